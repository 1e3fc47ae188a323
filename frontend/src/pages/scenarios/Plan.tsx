import { t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import type { ScenarioPlan, StepResult } from "../../api/schema";

interface Props {
  plan: ScenarioPlan;
  /** The text is wrong now: this is the plan of the last sound one. */
  stale: boolean;
  /** Steps of a run of this text, as far as they have begun. */
  steps: readonly StepResult[];
  onLine: (line: number) => void;
}

/** What a scenario does, step by step, what must hold at its end, and where it can run. */
export function Plan({ plan, stale, steps, onLine }: Props) {
  return (
    <section className="panel scenario-plan" aria-label={t`Steps`} data-stale={stale}>
      <h2>{plan.name}</h2>
      {stale && (
        <p className="soft">
          <Trans>As of the last sound text.</Trans>
        </p>
      )}
      <p className="scenario-teaches">{plan.teaches}</p>
      {plan.paper !== "" && <p className="soft">{plan.paper}</p>}
      {plan.notes.map((note) => (
        <p key={note} className="soft">
          {note}
        </p>
      ))}
      <Steps plan={plan} steps={steps} onLine={onLine} />
      <h3>
        <Trans>At the end, {plan.end}</Trans>
      </h3>
      <ul className="scenario-expects">
        {plan.expects.map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
      <Where plan={plan} />
    </section>
  );
}

const SIGNS = { waiting: "…", done: "✓", failed: "✗" };

function Steps({ plan, steps, onLine }: Pick<Props, "plan" | "steps" | "onLine">) {
  if (plan.trial)
    return (
      <p>
        <Trans>A trial of the explorer: its seed draws the calls and the faults.</Trans>
      </p>
    );
  if (plan.steps.length === 0)
    return (
      <p>
        <Trans>It has no steps: the load runs, and nothing is broken.</Trans>
      </p>
    );
  return (
    <ol className="scenario-steps">
      {plan.steps.map((step) => {
        const ran = steps.find(({ number }) => number === step.number);
        return (
          <li key={step.number} data-testid={`plan-${step.number}`} data-state={ran?.state ?? "open"}>
            <span className="scenario-begins">
              {step.begins}
              <button type="button" className="plain scenario-line" onClick={() => onLine(step.line)}>
                <Trans>line {step.line}</Trans>
              </button>
            </span>
            <span>
              {step.does}
              {ran !== undefined && (
                <span className="scenario-sign" role="img" aria-label={ran.state}>
                  {SIGNS[ran.state]}
                </span>
              )}
            </span>
            {ran !== undefined && ran.why !== "" && <p className="scenario-why">{ran.why}</p>}
          </li>
        );
      })}
    </ol>
  );
}

function Where({ plan }: { plan: ScenarioPlan }) {
  const refused = plan.families.filter((family) => family.refused !== "");
  const able = plan.families.filter((family) => family.refused === "");
  return (
    <>
      <h3>
        <Trans>Where it runs</Trans>
      </h3>
      <p>
        <Trans>
          On {plan.fabrics.join(", ")}; written for <strong>{plan.protocol}</strong>.
        </Trans>
      </p>
      <ul className="scenario-families" aria-label={t`Families that can run it`}>
        {able.map(({ name }) => (
          <li key={name}>{name}</li>
        ))}
      </ul>
      {refused.length > 0 && (
        <details>
          <summary>
            <Plural value={refused.length} one="Why not on one family" other="Why not on # families" />
          </summary>
          <ul className="scenario-refused">
            {refused.map(({ name, refused: why }) => (
              <li key={name}>
                <strong>{name}</strong>: {why}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}
