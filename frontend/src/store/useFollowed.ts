import { useEffect, useRef, useState } from "react";
import { lineOf } from "../api/client";
import { events, isConnected, useLab } from "./store";

const PAUSE_MS = 200;

export interface Followed<Answer> {
  /** The latest answer; null until the first one. */
  answer: Answer | null;
  /** Error of the newest request; empty when it succeeded. */
  failed: string;
}

/**
 * The latest answer of `ask`. It is called when the page opens and knows its cluster, after a reconnect, and when the live run has an event of
 * `kinds`; a few times a second at most. `ask` and `kinds` stay the same from render to render. A new value of `again` calls it for another reason.
 */
export function useFollowed<Answer>(
  ask: (signal: AbortSignal) => Promise<Answer>,
  kinds: ReadonlySet<string>,
  again = 0,
): Followed<Answer> {
  const connected = useLab(isConnected);
  const known = useLab((state) => state.cluster !== null);
  const run = useLab((state) => state.liveRun);
  const [followed, setFollowed] = useState<Followed<Answer>>({ answer: null, failed: "" });
  const wanted = useRef<() => void>(() => {});

  useEffect(() => {
    if (!connected || !known || run === null) return;
    void again;
    const stop = new AbortController();
    let [asking, stale] = [false, false];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const go = async (): Promise<void> => {
      [asking, stale] = [true, false];
      try {
        const answer = await ask(stop.signal);
        setFollowed({ answer, failed: "" });
      } catch (error) {
        if (stop.signal.aborted) return;
        setFollowed((old) => ({ ...old, failed: lineOf(error) }));
      }
      timer = setTimeout(() => {
        asking = false;
        if (stale) void go();
      }, PAUSE_MS);
    };
    wanted.current = () => {
      if (asking) stale = true;
      else void go();
    };
    void go();
    return () => {
      stop.abort();
      clearTimeout(timer);
      wanted.current = () => {};
    };
  }, [ask, connected, known, run, again]);

  useEffect(() => {
    let seen = events.last()?.seq ?? 0;
    return useLab.subscribe(() => {
      const newest = events.last()?.seq ?? 0;
      if (newest <= seen) return;
      const first = events.firstIndex(({ seq }) => seq > seen);
      seen = newest;
      if (events.from(first).some(({ kind }) => kinds.has(kind))) wanted.current();
    });
  }, [kinds]);

  return followed;
}
