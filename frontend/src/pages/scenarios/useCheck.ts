import { useEffect, useRef, useState } from "react";
import { api, lineOf } from "../../api/client";
import type { ScenarioCheck, ScenarioPlan, WrongLine } from "../../api/schema";

const AFTER_MS = 350;

interface Checked {
  /** The text that was checked last. */
  text: string;
  error: WrongLine | null;
  /** Of the last sound text. */
  plan: ScenarioPlan | null;
}

/** Checks a text as one types: `first` is the check of the text that it begins with. */
export function useCheck(text: string, begun: string, first: ScenarioCheck) {
  const [checked, setChecked] = useState<Checked>({ text: begun, error: first.error, plan: first.plan });
  const newest = useRef(text);
  newest.current = text;
  useEffect(() => {
    if (text === checked.text) return;
    const put = (error: WrongLine | null, plan: ScenarioPlan | null): void => {
      if (newest.current === text) setChecked((old) => ({ text, error, plan: plan ?? old.plan }));
    };
    const timer = setTimeout(() => {
      api.checkScenario(text).then(
        ({ error, plan }) => put(error, plan),
        (failure: unknown) => put({ line: null, reason: lineOf(failure) }, null),
      );
    }, AFTER_MS);
    return () => clearTimeout(timer);
  }, [text, checked.text]);
  return { ...checked, pending: text !== checked.text };
}
