import type { ScenarioPlan } from "../../api/schema";

/** What a scenario does, step by step, what must hold at its end, and where it can run. */
export function Plan({ plan }: { plan: ScenarioPlan }) {
  return (
    <section className="panel scenario-plan" aria-label="Steps">
      <h2>{plan.name}</h2>
      <p className="scenario-teaches">{plan.teaches}</p>
      {plan.paper !== "" && <p className="soft">{plan.paper}</p>}
      {plan.notes.map((note) => (
        <p key={note} className="soft">
          {note}
        </p>
      ))}
      <Steps plan={plan} />
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

function Steps({ plan }: { plan: ScenarioPlan }) {
  if (plan.trial) return <p>A trial of the explorer: its seed draws the calls and the faults.</p>;
  if (plan.steps.length === 0) return <p>It has no steps: the load runs, and nothing is broken.</p>;
  return (
    <ol className="scenario-steps">
      {plan.steps.map((step) => (
        <li key={step.number} data-testid={`plan-${step.number}`}>
          <span className="scenario-begins">{step.begins}</span>
          <span>{step.does}</span>
        </li>
      ))}
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
