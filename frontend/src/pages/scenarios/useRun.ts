import { useEffect, useState } from "react";
import { ApiError, api, lineOf } from "../../api/client";
import type { PageRun, ScenarioRunRequest } from "../../api/schema";
import { useAttempt } from "../../ui/useAttempt";

const EVERY_MS = 400;

/** The run of a text, followed until it is over. It begins with the newest run of the text `first`: the page may have been closed while it went on. */
export function useRun(first: string) {
  const [run, setRun] = useState<PageRun | null>(null);
  const { busy, failed, setFailed, attempt } = useAttempt();
  const number = run?.run ?? 0;
  const running = run?.state === "running";
  useEffect(() => {
    let over = false;
    runOf(first).then(
      (found) => !over && setRun((now) => now ?? found),
      () => {},
    );
    return () => {
      over = true;
    };
  }, [first]);
  useEffect(() => {
    if (!running) return;
    let [over, timer] = [false, 0];
    const go = async (): Promise<void> => {
      try {
        const now = await api.scenarioRun(number);
        if (!over) setRun((old) => (old?.run === now.run ? now : old));
      } catch (error) {
        if (over) return;
        setFailed(lineOf(error));
        if (error instanceof ApiError && error.status === 404) setRun(null);
      }
      if (!over) timer = window.setTimeout(() => void go(), EVERY_MS);
    };
    timer = window.setTimeout(() => void go(), EVERY_MS);
    return () => {
      over = true;
      window.clearTimeout(timer);
    };
  }, [number, running, setFailed]);
  const begin = (request: ScenarioRunRequest) => attempt(async () => setRun(await api.runScenario(request)));
  const cancel = () => attempt(async () => setRun(await api.cancelScenarioRun(number)));
  return { run, running, busy, failed, begin, cancel };
}

/** The newest run of a text that is kept. */
async function runOf(text: string): Promise<PageRun | null> {
  for (const { run } of await api.scenarioRuns()) {
    const found = await api.scenarioRun(run);
    if (found.text === text) return found;
  }
  return null;
}
