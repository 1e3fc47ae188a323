import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { ReactNode } from "react";
import type { ScenarioOutcome } from "../../api/schema";
import { count } from "../../store/time";
import { Calls } from "./Calls";

const NS_PER_S = 1e9;

interface Props {
  outcome: ScenarioOutcome;
  /** The text beside it is another one by now. */
  edited?: boolean;
  children?: ReactNode;
}

/** The result of a run: whether it held, each expectation, calls over time, and what led to a failure. */
export function Outcome({ outcome, edited = false, children }: Props) {
  const missed = outcome.verdicts.filter(({ held }) => !held).length;
  const seconds = (outcome.ended_ns - outcome.started_ns) / NS_PER_S;
  return (
    <section
      className="panel scenario-outcome"
      id="result"
      aria-label={t`Result`}
      data-testid="outcome"
      data-held={outcome.held}
    >
      <header className="scenario-write-head">
        <h2>
          <Trans>Result: {outcome.name}</Trans>
        </h2>
        {children}
      </header>
      <p className="scenario-verdict" data-held={outcome.held}>
        {outcome.held
          ? t`Held: every expectation.`
          : t`Not held: ${missed} of ${outcome.verdicts.length} expectations.`}
      </p>
      <p className="soft">
        {edited && `${t`Of the text before the newest edits.`} `}
        <Trans>
          On {outcome.on}, seed {outcome.seed}: {count(outcome.calls)} calls, {count(outcome.failed_calls)}{" "}
          failed, longest outage {outcome.longest_outage_ms.toFixed(0)} ms, {seconds.toFixed(1)} s.
        </Trans>
      </p>
      {outcome.curve !== null && <Calls curve={outcome.curve} steps={outcome.steps} />}
      <h3>
        <Trans>Expectations</Trans>
      </h3>
      <ul className="scenario-verdicts">
        {outcome.verdicts.map(({ expected, held, seen }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the verdicts do not change
          <li key={at} data-held={held}>
            <Tick good={held} />
            <strong>{expected}</strong> <span>{seen}</span>
          </li>
        ))}
      </ul>
      {outcome.steps.length > 0 && (
        <>
          <h3>
            <Trans>Steps</Trans>
          </h3>
          <ul className="scenario-verdicts">
            {outcome.steps.map(({ number, text, state, at_ns, why }) => (
              <li key={number} data-held={state === "done"}>
                <Tick good={state === "done"} />
                <strong>{(at_ns / NS_PER_S).toFixed(1)} s</strong> <span>{text}</span>
                {why !== "" && <p className="scenario-why">{why}</p>}
              </li>
            ))}
          </ul>
        </>
      )}
      {outcome.story.length > 0 && (
        <details>
          <summary>
            <Trans>What led to it</Trans>
          </summary>
          <ol className="scenario-story">
            {outcome.story.map((line, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the story does not change
              <li key={at}>{line}</li>
            ))}
          </ol>
        </details>
      )}
    </section>
  );
}

function Tick({ good }: { good: boolean }) {
  return (
    <span className="scenario-tick" data-good={good} role="img" aria-label={good ? t`held` : t`not held`}>
      {good ? "✓" : "✗"}
    </span>
  );
}
