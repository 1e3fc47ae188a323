import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useEffect, useState } from "react";
import { clock, useLab } from "../store/store";
import { milliseconds } from "../store/time";
import { type Facts, sinceFault } from "./facts";

const TICK_MS = 100;

/** Seconds until a session without heartbeats ends at the latest; 0 afterwards. */
function useLeft(fault_ns: number, timeout_ms: number, over: boolean): number {
  const [now_ns, setNow] = useState(() => clock.now_ns());
  useEffect(() => {
    if (over) return;
    const timer = setInterval(() => setNow(clock.now_ns()), TICK_MS);
    return () => clearInterval(timer);
  }, [over]);
  return Math.min(timeout_ms, Math.max(0, timeout_ms - (now_ns - fault_ns) / 1e6)) / 1000;
}

/** The way from the fault to the first answer: what has happened, and what is waited for. */
export function Progress({ facts }: { facts: Facts }) {
  const { old, fault, ended, freed, locked, serving } = facts;
  const timeout_ms = useLab((state) => state.cluster?.timing.session_timeout_ms ?? 0);
  const over = ended ?? freed;
  const left_s = useLeft(fault?.at_ns ?? 0, timeout_ms, over !== null);
  const parts = [
    { name: t`Session of ${old} ends`, at: over },
    { name: t`Draw for the lock`, at: locked },
    { name: t`Journals made equal, service`, at: serving },
  ];
  const next = parts.findIndex(({ at }) => at === null);
  return (
    <ol className="tour-progress" data-testid="tour-progress">
      {parts.map(({ name, at }, index) => (
        <li key={name} data-state={at !== null ? "done" : index === next ? "now" : "later"}>
          <strong>{name}</strong>
          {at !== null && (
            <span className="figures">
              <Trans>after {milliseconds(sinceFault(facts, at) ?? 0)}</Trans>
            </span>
          )}
          {at === null && index === 0 && (
            <>
              <span className="figures" data-testid="countdown">
                {left_s > 0 ? t`in ${left_s.toFixed(1)} s at the latest` : t`any moment now`}
              </span>
              <progress
                aria-label={t`Time until the session of ${old} ends`}
                value={left_s * 1000}
                max={timeout_ms}
              />
            </>
          )}
          {at === null && index > 0 && <span className="soft">{index === next ? t`now` : t`later`}</span>}
        </li>
      ))}
    </ol>
  );
}
