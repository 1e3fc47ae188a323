import { t } from "@lingui/core/macro";
import { Plural } from "@lingui/react/macro";
import { useState } from "react";
import { api } from "../../api/client";
import type { ShownStep } from "../../api/schema";
import { Failed } from "../../ui/Failed";
import { useAttempt } from "../../ui/useAttempt";
import { changeOf } from "./load";

/** Does what a button says. */
async function performed({ fault, load, mark, recover }: ShownStep): Promise<void> {
  if (fault !== null) await api.fault(fault);
  if (load !== null) await api.workload(changeOf(load));
  if (mark !== "") await api.mark(mark);
  if (recover !== "") await api.recover(recover);
}

/** The buttons that show a mechanism, and what to look at. */
export function ShownSteps({ steps }: { steps: readonly ShownStep[] }) {
  return (
    <ol className="paper-steps" aria-label={t`See it`}>
      {steps.map((step, at) => (
        <OneStep key={step.text} step={step} place={at + 1} />
      ))}
    </ol>
  );
}

function OneStep({ step, place }: { step: ShownStep; place: number }) {
  const { busy, failed, attempt } = useAttempt();
  const [done, setDone] = useState(0);
  const press = (): Promise<void> =>
    attempt(async () => {
      await performed(step);
      setDone((times) => times + 1);
    });
  return (
    <li data-testid={`shown-${place}`} data-done={done}>
      <button
        type="button"
        className="pill"
        disabled={busy}
        aria-describedby={`see-${place}`}
        onClick={() => void press()}
      >
        {step.text}
      </button>
      <span className="paper-done" role="status">
        {done > 0 && <Plural value={done} one="✓ done" other="✓ done # times" />}
      </span>
      <p id={`see-${place}`}>{step.see}</p>
      <Failed why={failed} />
    </li>
  );
}
