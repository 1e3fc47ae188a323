import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useEffect, useState } from "react";
import { clock, useLab } from "../store/store";
import { milliseconds } from "../store/time";
import { type Facts, overOf, sinceFault } from "./facts";
import { sceneOf } from "./useFacts";

const TICK_MS = 100;

/** Seconds until a session, or a lease, without heartbeats ends; 0 afterwards. */
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
  const { old, fault, locked, serving } = facts;
  const session_ms = useLab((state) => sceneOf(state).session_timeout_ms);
  const grant_ms = useLab((state) => sceneOf(state).grant_ms);
  const over = overOf(facts);
  const left_s = useLeft(fault?.at_ns ?? 0, grant_ms ?? session_ms, over !== null);
  const parts = [
    { name: grant_ms === null ? t`Session of ${old} ends` : t`The lock of ${old} is removed`, at: over },
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
                {left_s > 0 && grant_ms === null
                  ? t`in ${left_s.toFixed(1)} s at the latest`
                  : t`any moment now`}
              </span>
              <progress
                aria-label={
                  grant_ms === null
                    ? t`Time until the session of ${old} ends`
                    : t`Time until the lease of ${old} has run out`
                }
                value={left_s * 1000}
                max={grant_ms ?? session_ms}
              />
            </>
          )}
          {at === null && index > 0 && <span className="soft">{index === next ? t`now` : t`later`}</span>}
        </li>
      ))}
    </ol>
  );
}
