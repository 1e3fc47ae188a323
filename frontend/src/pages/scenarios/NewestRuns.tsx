import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useState } from "react";
import { api } from "../../api/client";
import type { PageRun, ScenarioRunRow } from "../../api/schema";
import { Failed } from "../../ui/Failed";
import { useAsked } from "../../ui/useAsked";
import { useAttempt } from "../../ui/useAttempt";
import { Downloads } from "./Downloads";
import { howFar } from "./howFar";
import { Outcome } from "./Outcome";

const EVERY_MS = 2000;

/** The newest runs, from any page: how far they are, and their results. */
export function NewestRuns() {
  const { answer } = useAsked(api.scenarioRuns, EVERY_MS);
  const [shown, setShown] = useState<PageRun | null>(null);
  const { busy, failed, attempt } = useAttempt();
  if (answer === null || answer.length === 0) return null;
  const show = (run: number) =>
    attempt(async () => setShown(shown?.run === run ? null : await api.scenarioRun(run)));
  const cancel = (run: number) => attempt(async () => void (await api.cancelScenarioRun(run)));
  return (
    <section aria-label={t`Newest runs`} data-testid="newest-runs">
      <h3>
        <Trans>Newest runs</Trans>
      </h3>
      <ul className="panel scenario-runs">
        {answer.map((row) => (
          <li key={row.run} data-testid={`run-${row.run}`} data-state={row.state}>
            <strong>{row.name}</strong>
            <span className="soft">{whatOf(row)}</span>
            <span className="scenario-far" data-held={row.held}>
              {howFar(row)}
            </span>
            {row.state === "running" && (
              <button type="button" className="pill" disabled={busy} onClick={() => void cancel(row.run)}>
                <Trans>Cancel</Trans>
              </button>
            )}
            {row.held !== null && (
              <button
                type="button"
                className="pill"
                aria-expanded={shown?.run === row.run}
                onClick={() => void show(row.run)}
              >
                <Trans>Result</Trans>
              </button>
            )}
          </li>
        ))}
      </ul>
      <Failed why={failed} />
      {shown !== null && shown.outcome !== null && (
        <Outcome outcome={shown.outcome}>
          <Downloads run={shown.run} />
        </Outcome>
      )}
    </section>
  );
}

function whatOf({ protocol, on, seed, scale }: ScenarioRunRow): string {
  const where = on === "simulated" ? t`on the simulator` : t`on processes`;
  return scale === 1
    ? t`${protocol} ${where}, seed ${seed}`
    : t`${protocol} ${where}, seed ${seed}, times × ${scale}`;
}
