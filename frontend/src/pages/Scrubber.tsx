import { t } from "@lingui/core/macro";
import { useEffect, useState } from "react";
import { api } from "../api/client";
import { scrubTo } from "../store/moment";
import { clock, knowsRun, runStart, shownRun, useLab } from "../store/store";
import { NS_PER_MS, sinceStart } from "../store/time";
import { complain } from "../store/toasts";

/** End of the shown run; of the live run, the time of the request. 0 while unknown. */
function useRunEnd(): number {
  const run = useLab(shownRun);
  const past = useLab((state) => state.run !== null);
  const [end_ns, setEnd] = useState(0);
  useEffect(() => {
    if (run === null) return;
    if (!past) return setEnd(clock.now_ns());
    const asked = new AbortController();
    api
      .picture(run, {}, asked.signal)
      .then(({ at_ns }) => setEnd(at_ns))
      .catch((error: unknown) => asked.signal.aborted || complain(error));
    return () => asked.abort();
  }, [run, past]);
  return end_ns;
}

/** Moves through a run by pointer or by the arrow keys, a millisecond at a time. */
export function Scrubber() {
  const start_ns = useLab(runStart);
  const known = useLab(knowsRun);
  const at_ns = useLab((state) => state.moment?.at_ns ?? 0);
  const end_ns = Math.max(useRunEnd(), at_ns);
  if (!known || end_ns <= start_ns) return null;
  const ms = (ns: number): number => Math.round((ns - start_ns) / NS_PER_MS);
  return (
    <input
      type="range"
      className="scrubber"
      data-testid="scrubber"
      aria-label={t`Moment of the run`}
      aria-valuetext={sinceStart(at_ns, start_ns, 3)}
      min={0}
      max={ms(end_ns)}
      value={Math.max(0, ms(at_ns))}
      onChange={(event) => void scrubTo(start_ns + Number(event.currentTarget.value) * NS_PER_MS)}
    />
  );
}
