import { useDocumentVisibility } from "@mantine/hooks";
import { useEffect, useState } from "react";
import { api, lineOf } from "../../api/client";
import { isConnected, useLab } from "../../store/store";
import { type Reading, readAgain, UNREAD } from "./rows";

const POLL_MS = 1_000;

/** The coordination tree, read once a second while a person can see the page. */
export function useReading(): Reading {
  const connected = useLab(isConnected);
  const visible = useDocumentVisibility() === "visible";
  const [reading, setReading] = useState(UNREAD);
  useEffect(() => {
    if (!connected || !visible) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const go = async (): Promise<void> => {
      try {
        const view = await api.coordination(stop.signal);
        setReading((old) => readAgain(old, view, performance.now()));
      } catch (error) {
        if (stop.signal.aborted) return;
        setReading((old) => ({ ...old, failed: lineOf(error) }));
      }
      if (!stop.signal.aborted) timer = setTimeout(() => void go(), POLL_MS);
    };
    void go();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [connected, visible]);
  return reading;
}
