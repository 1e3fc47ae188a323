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
    <section className="panel scenario-plan" aria-label="Steps" data-stale={stale}>
      <h2>{plan.name}</h2>
      {stale && <p className="soft">As of the last sound text.</p>}
      <p className="scenario-teaches">{plan.teaches}</p>
      {plan.paper !== "" && <p className="soft">{plan.paper}</p>}
      {plan.notes.map((note) => (
        <p key={note} className="soft">
          {note}
        </p>
      ))}
      <Steps plan={plan} steps={steps} onLine={onLine} />
      <h3>At the end, {plan.end}</h3>
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
  if (plan.trial) return <p>A trial of the explorer: its seed draws the calls and the faults.</p>;
  if (plan.steps.length === 0) return <p>It has no steps: the load runs, and nothing is broken.</p>;
  return (
    <ol className="scenario-steps">
      {plan.steps.map((step) => {
        const ran = steps.find(({ number }) => number === step.number);
        return (
          <li key={step.number} data-testid={`plan-${step.number}`} data-state={ran?.state ?? "open"}>
            <span className="scenario-begins">
              {step.begins}
              <button type="button" className="plain scenario-line" onClick={() => onLine(step.line)}>
                line {step.line}
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
      <h3>Where it runs</h3>
      <p>
        On {plan.fabrics.join(", ")}; written for <strong>{plan.protocol}</strong>.
      </p>
      <ul className="scenario-families" aria-label="Families that can run it">
        {able.map(({ name }) => (
          <li key={name}>{name}</li>
        ))}
      </ul>
      {refused.length > 0 && (
        <details>
          <summary>Why not on {refused.length === 1 ? "one family" : `${refused.length} families`}</summary>
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
