import { useDocumentVisibility } from "@mantine/hooks";
import { useCallback, useEffect, useState } from "react";
import { api, lineOf } from "../../api/client";
import type { Search } from "../../api/schema";
import { isConnected, useLab } from "../../store/store";

const POLL_MS = 1_000;

/** The newest search, read once a second while a person can see the page. */
export function useSearch() {
  const connected = useLab(isConnected);
  const visible = useDocumentVisibility() === "visible";
  const [search, setSearch] = useState<Search | null>(null);
  const [failed, setFailed] = useState("");
  const put = useCallback((next: Search): void => {
    setSearch(next);
    setFailed("");
  }, []);
  useEffect(() => {
    if (!connected || !visible) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const go = async (): Promise<void> => {
      try {
        put(await api.search(stop.signal));
      } catch (error) {
        if (stop.signal.aborted) return;
        setFailed(lineOf(error));
      }
      if (!stop.signal.aborted) timer = setTimeout(() => void go(), POLL_MS);
    };
    void go();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [connected, visible, put]);
  return { search, failed, put };
}
