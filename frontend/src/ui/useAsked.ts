import { useEffect, useState } from "react";
import { ApiError, lineOf } from "../api/client";

interface Asked<Answer> {
  answer: Answer | null;
  failed: string;
  /** Status of the failure; 0 when nothing answered. */
  status: number;
}

/** The answer of `ask`, asked once, or again and again after `every_ms`; `ask` stays the same from render to render. */
export function useAsked<Answer>(ask: () => Promise<Answer>, every_ms = 0) {
  const [asked, setAsked] = useState<Asked<Answer>>({ answer: null, failed: "", status: 0 });
  useEffect(() => {
    let [over, timer] = [false, 0];
    const go = async (): Promise<void> => {
      try {
        const answer = await ask();
        if (!over) setAsked({ answer, failed: "", status: 0 });
      } catch (error) {
        const status = error instanceof ApiError ? error.status : 0;
        if (!over) setAsked((old) => ({ ...old, failed: lineOf(error), status }));
      }
      if (!over && every_ms > 0) timer = window.setTimeout(() => void go(), every_ms);
    };
    void go();
    return () => {
      over = true;
      window.clearTimeout(timer);
    };
  }, [ask, every_ms]);
  return { ...asked, put: (answer: Answer) => setAsked({ answer, failed: "", status: 0 }) };
}
