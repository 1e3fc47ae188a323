import { useEffect, useRef, useState } from "react";
import { api } from "../../api/client";
import type { Journals } from "../../api/schema";
import { isLive, shownPicture, shownRun, useLab } from "../../store/store";

const ASK_MS = 400;

export interface Shown {
  data: Journals;
  from_sn: number;
  to_sn: number;
}

/**
 * The journals of a replica group at `columns` serial numbers: the newest ones, or those that begin at `from` when it is given.
 * They are requested again while the present is shown and a server has written.
 */
export function useJournals(
  group: string,
  columns: number,
  from: number | null,
): { shown: Shown | null; failed: string } {
  const run = useLab(shownRun);
  const live = useLab(isLive);
  const connected = useLab((state) => state.connection.state === "live");
  const at_ns = useLab((state) => (state.moment === null ? undefined : Math.round(state.moment.at_ns)));
  /** A picture of the past arrives after the moment is set. */
  const seq = useLab((state) => state.moment?.picture.seq ?? -1);
  const [shown, setShown] = useState<Shown | null>(null);
  const [failed, setFailed] = useState("");
  const asked = useRef("");

  useEffect(() => {
    if (run === null || columns === 0 || !connected) return;
    const stop = new AbortController();
    void seq;
    const ask = async (): Promise<void> => {
      const servers = Object.values(shownPicture(useLab.getState()).servers).filter(
        (server) => server.group === group,
      );
      const newest = Math.max(columns, ...servers.map(({ sn }) => sn));
      const last_from = Math.max(1, newest - columns + 1);
      const from_sn = Math.min(Math.max(1, from ?? last_from), last_from);
      const to_sn = from_sn + columns - 1;
      const key = [
        run,
        from_sn,
        to_sn,
        at_ns,
        ...servers.map(({ sn, applied_sn, commit_sn }) => [sn, applied_sn, commit_sn]),
      ].join();
      if (key === asked.current) return;
      try {
        setShown({
          data: await api.journal(run, { group, from_sn, to_sn, at_ns }, stop.signal),
          from_sn,
          to_sn,
        });
        asked.current = key;
        setFailed("");
      } catch (error) {
        if (!stop.signal.aborted) setFailed(error instanceof Error ? error.message : String(error));
      }
    };
    void ask();
    const timer = live ? setInterval(() => void ask(), ASK_MS) : undefined;
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, [run, live, connected, group, columns, from, at_ns, seq]);

  return { shown, failed };
}
