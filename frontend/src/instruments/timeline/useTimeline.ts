import { useEffect, useRef, useState } from "react";
import { api } from "../../api/client";
import type { Timeline } from "../../api/schema";
import { clock, isLive, knowsRun, runStart, shownRun, useLab } from "../../store/store";
import { NS_PER_S } from "../../store/time";

const ASK_MS = 500;
const BUCKETS = 240;
export const SPANS_S = [10, 30, 60, 180, 600, 1800, 7200];

/** The shown span: its length, and its end while it does not follow the present. */
export interface Window {
  span: number;
  end_ns: number | null;
}

/** The timeline of the shown run in a window, requested again twice a second while the present is shown. */
export function useTimeline(window_: Window): { data: Timeline | null; failed: string } {
  const run = useLab(shownRun);
  const live = useLab(isLive);
  const ended = useLab((state) => state.run !== null);
  const connected = useLab((state) => state.connection.state === "live");
  const start_ns = useLab(runStart);
  const known = useLab(knowsRun);
  /** Rounded to a second, so that a drag does not request each moment. */
  const moment_ns = useLab((state) =>
    state.moment === null ? null : Math.round(state.moment.at_ns / NS_PER_S) * NS_PER_S,
  );
  const [data, setData] = useState<Timeline | null>(null);
  const [failed, setFailed] = useState("");
  const seen = useRef(0);

  useEffect(() => {
    if (run === null || !known || !connected) return;
    const stop = new AbortController();
    let asking = false;
    const ask = async (): Promise<void> => {
      if (asking) return;
      asking = true;
      try {
        setData(await api.timeline(run, { ...limits(), buckets: BUCKETS }, stop.signal));
        setFailed("");
      } catch (error) {
        if (!stop.signal.aborted) setFailed(error instanceof Error ? error.message : String(error));
      } finally {
        asking = false;
      }
    };
    const limits = (): { from_ns?: number; to_ns?: number } => {
      if (ended && window_.end_ns === null && moment_ns === null) return {};
      const span_ns = window_.span * NS_PER_S;
      const inView = seen.current - span_ns < (moment_ns ?? 0) && (moment_ns ?? 0) <= seen.current;
      const follow = moment_ns === null ? clock.now_ns() : inView ? seen.current : moment_ns + span_ns / 2;
      const to_ns = window_.end_ns ?? follow;
      seen.current = to_ns;
      return { from_ns: Math.round(Math.max(start_ns, to_ns - span_ns)), to_ns: Math.round(to_ns) };
    };
    void ask();
    const timer = live && window_.end_ns === null ? setInterval(() => void ask(), ASK_MS) : undefined;
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, [run, live, ended, connected, start_ns, window_, moment_ns, known]);

  return { data, failed };
}
