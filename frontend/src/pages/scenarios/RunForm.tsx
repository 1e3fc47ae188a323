import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type FormEvent, type ReactNode, useState } from "react";
import type { ScenarioPlan, ScenarioRunRow } from "../../api/schema";
import { Failed } from "../../ui/Failed";
import { howFar } from "./howFar";
import type { useRun } from "./useRun";

const SEED_MAX = 2 ** 31;
const SCALES = [1, 0.5, 0.2, 0.1];
const ON: Record<ScenarioRunRow["on"], MessageDescriptor> = {
  simulated: msg`Simulator`,
  processes: msg`Processes`,
};

interface Props {
  text: string;
  plan: ScenarioPlan;
  /** The text is not a scenario now, or not known to be one. */
  wrong: boolean;
  runs: ReturnType<typeof useRun>;
}

/** Fabric, family, seed and variant of a run; begins and cancels it. */
export function RunForm({ text, plan, wrong, runs }: Props) {
  const { run, running, busy, failed } = runs;
  const able = plan.families.filter(({ refused }) => refused === "").map(({ name }) => name);
  const fabrics = (Object.keys(ON) as ScenarioRunRow["on"][]).filter((name) => plan.fabrics.includes(name));
  const [chosen, setChosen] = useState<ScenarioRunRow["on"]>("simulated");
  const [family, setFamily] = useState("");
  const [seed, setSeed] = useState("");
  const [scale, setScale] = useState(1);
  const [wanted, setVariant] = useState(0);
  const on = fabrics.includes(chosen) ? chosen : "simulated";
  const protocol = able.includes(family) ? family : plan.protocol;
  const variant = wanted < plan.variants.length ? wanted : 0;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const request = { text, on, protocol, variant, scale, seed: seed === "" ? plan.seed : Number(seed) };
    void (running ? runs.cancel() : runs.begin(request));
  };
  return (
    <form className="panel scenario-run fields" aria-label={t`Run`} onSubmit={submit}>
      <Choice
        label={t`On`}
        value={on}
        off={running}
        testId="run-on"
        onChoose={(name) => setChosen(name as typeof on)}
      >
        {fabrics.map((name) => (
          <option key={name} value={name}>
            {i18n._(ON[name])}
          </option>
        ))}
      </Choice>
      <Choice label={t`Family`} value={protocol} off={running} testId="run-family" onChoose={setFamily}>
        {able.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </Choice>
      <label>
        <Trans>Seed</Trans>
        <input
          type="number"
          min={0}
          max={SEED_MAX}
          step={1}
          value={seed}
          placeholder={String(plan.seed)}
          disabled={running}
          data-testid="run-seed"
          onChange={(event) => setSeed(event.currentTarget.value)}
        />
      </label>
      {on === "processes" && (
        <Choice
          label={t`Times`}
          value={scale}
          off={running}
          testId="run-scale"
          onChoose={(of) => setScale(Number(of))}
        >
          {SCALES.map((of) => (
            <option key={of} value={of}>
              × {of}
            </option>
          ))}
        </Choice>
      )}
      {plan.variants.length > 1 && (
        <Choice
          label={t`Variant`}
          value={variant}
          off={running}
          testId="run-variant"
          onChoose={(at) => setVariant(Number(at))}
        >
          {plan.variants.map((name, at) => (
            <option key={name} value={at}>
              {name}
            </option>
          ))}
        </Choice>
      )}
      <button
        type="submit"
        className={running ? "pill" : "primary"}
        disabled={busy || (!running && (wrong || plan.trial))}
        data-testid="run"
      >
        {running ? t`Cancel` : t`Run`}
      </button>
      <p
        className="scenario-progress"
        role="status"
        data-testid="run-state"
        data-state={run?.state ?? "none"}
      >
        {run !== null && howFar(run)}{" "}
        {run?.held != null && (
          <a href="#result">
            <Trans>Result ↓</Trans>
          </a>
        )}
      </p>
      {plan.trial && (
        <p className="soft">
          <Trans>A trial of the explorer runs by ./cloverlab run.</Trans>
        </p>
      )}
      <Failed why={failed || (run?.error ?? "")} testId="run-failed" />
    </form>
  );
}

interface ChoiceProps {
  label: string;
  value: string | number;
  off: boolean;
  testId: string;
  onChoose: (value: string) => void;
  children: ReactNode;
}

function Choice({ label, value, off, testId, onChoose, children }: ChoiceProps) {
  return (
    <label>
      {label}
      <select
        value={value}
        disabled={off}
        data-testid={testId}
        onChange={(event) => onChoose(event.currentTarget.value)}
      >
        {children}
      </select>
    </label>
  );
}
