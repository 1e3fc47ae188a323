import { useCallback } from "react";
import { api } from "../../api/client";
import { useLab } from "../../store/store";
import { addressOf, openScenario } from "../../store/url";
import { Failed } from "../../ui/Failed";
import { useAsked } from "../../ui/useAsked";
import { followed } from "../followed";
import { Plan } from "./Plan";

/** One scenario: its text, its steps, and where it can run. */
export function ScenarioView({ file }: { file: string }) {
  const ask = useCallback(() => api.scenario(file), [file]);
  const { answer, failed } = useAsked(ask);
  const list = useLab((state) => addressOf("scenarios", { ...state, scenario: "" }));
  return (
    <>
      <a className="scenario-back" href={list} onClick={followed(() => openScenario(""))}>
        ← All scenarios
      </a>
      <Failed why={failed} />
      {answer === null && failed === "" && <p className="waiting">Reading the scenario…</p>}
      {answer !== null && (
        <div className="scenario">
          <section className="panel" aria-label="File">
            <h2 className="scenario-file">{answer.file}.yaml</h2>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls by keyboard too */}
            <pre className="scenario-text" tabIndex={0} data-testid="scenario-text">
              {answer.text}
            </pre>
          </section>
          <Failed why={answer.check.error?.reason ?? ""} />
          {answer.check.plan !== null && <Plan plan={answer.check.plan} />}
        </div>
      )}
    </>
  );
}
