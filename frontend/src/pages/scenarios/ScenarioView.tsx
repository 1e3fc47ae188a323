import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { lazy, Suspense, useCallback, useState } from "react";
import { api } from "../../api/client";
import type { ScenarioFile, WrongLine } from "../../api/schema";
import { useLab } from "../../store/store";
import { addressOf, openScenario } from "../../store/url";
import { Failed } from "../../ui/Failed";
import { useAsked } from "../../ui/useAsked";
import { followed } from "../followed";
import type { Schema } from "./completion";
import { Downloads } from "./Downloads";
import { Outcome } from "./Outcome";
import { Plan } from "./Plan";
import { RunForm } from "./RunForm";
import { useCheck } from "./useCheck";
import { useRun } from "./useRun";

const Editor = lazy(() => import("./Editor").then((module) => ({ default: module.Editor })));

/** One scenario: its text, its steps, and where it can run. */
export function ScenarioView({ file }: { file: string }) {
  const ask = useCallback(() => api.scenario(file), [file]);
  const { answer, failed } = useAsked(ask);
  const list = useLab((state) => addressOf("scenarios", { ...state, scenario: "" }));
  return (
    <>
      <a className="scenario-back" href={list} onClick={followed(() => openScenario(""))}>
        <Trans>← All scenarios</Trans>
      </a>
      <Failed why={failed} />
      {answer === null && failed === "" && (
        <p className="waiting">
          <Trans>Reading the scenario…</Trans>
        </p>
      )}
      {answer !== null && <Opened file={answer} />}
    </>
  );
}

function Opened({ file }: { file: ScenarioFile }) {
  const [text, setText] = useState(file.text);
  const [goTo, setGoTo] = useState({ line: 1, wish: 0 });
  const { error, plan, pending } = useCheck(text, file.text, file.check);
  const { answer: schema } = useAsked(api.scenarioSchema);
  const runs = useRun(file.text);
  const { run } = runs;
  const show = (line: number): void => setGoTo(({ wish }) => ({ line, wish: wish + 1 }));
  return (
    <div className="scenario">
      <section className="panel scenario-write" aria-label={t`File`}>
        <header className="scenario-write-head">
          <h2 className="scenario-file">
            <Trans>{file.file}.yaml</Trans>
          </h2>
          <button
            type="button"
            className="pill"
            disabled={text === file.text}
            data-testid="scenario-reset"
            onClick={() => setText(file.text)}
          >
            <Trans>As shipped</Trans>
          </button>
        </header>
        <Suspense
          fallback={
            <p className="waiting">
              <Trans>Loading the editor…</Trans>
            </p>
          }
        >
          <Editor text={text} schema={schema as Schema | null} error={error} goTo={goTo} onChange={setText} />
        </Suspense>
        <Judgement error={error} pending={pending} onLine={show} />
        <p className="soft">
          <Trans>Ctrl+Space proposes what may stand here.</Trans>
        </p>
      </section>
      {plan !== null && (
        <div className="scenario-right">
          <RunForm text={text} plan={plan} wrong={error !== null || pending} runs={runs} />
          <Plan
            plan={plan}
            stale={error !== null}
            steps={run?.text === text ? run.steps : []}
            onLine={show}
          />
        </div>
      )}
      {run !== null && run.outcome !== null && (
        <div className="scenario-whole">
          <Outcome outcome={run.outcome} edited={run.text !== text}>
            <Downloads run={run.run} />
          </Outcome>
        </div>
      )}
    </div>
  );
}

/** Whether the text is a scenario; announced as it changes. */
function Judgement({
  error,
  pending,
  onLine,
}: {
  error: WrongLine | null;
  pending: boolean;
  onLine: (line: number) => void;
}) {
  const line = error?.line ?? null;
  return (
    <p
      className="scenario-judgement"
      role="status"
      data-state={pending ? "pending" : error === null ? "sound" : "wrong"}
      data-testid="scenario-judgement"
    >
      {error === null && (pending ? t`Checking…` : t`A sound scenario.`)}
      {error !== null && line !== null && (
        <button type="button" className="plain" onClick={() => onLine(line)}>
          <Trans>Line {line}</Trans>
        </button>
      )}
      {error?.reason}
    </p>
  );
}
