import { t } from "@lingui/core/macro";
import { useEffect, useState } from "react";
import { api } from "../../api/client";
import type { Journals } from "../../api/schema";
import { shownPicture, useLab } from "../../store/store";

const PAUSE_MS = 180;
const SHOWN_MOST = 3;

/** A record in a few words: "make a/b". */
function inWords(record: Record<string, unknown>): string {
  const names = Object.entries(record).flatMap(([field, value]) => {
    if (!field.includes("name")) return [];
    return Array.isArray(value) ? [value.join("/")] : [String(value)];
  });
  const kind = String(record.kind)
    .replace(/Record$/, "")
    .toLowerCase();
  return [kind, ...names].join(" ");
}

/** The records of a journal group in a few words: the first ones, and how many there are beside them. */
export function operationWords(records: readonly Record<string, unknown>[]): string {
  if (records.length === 0) return t`no operation`;
  const more = records.length - SHOWN_MOST;
  const first = records.slice(0, SHOWN_MOST).map(inWords).join(", ");
  return more > 0 ? t`${first} and ${more} more` : first;
}

function stateAt({ servers }: Journals, server: string, sn: number): string {
  const row = servers.find(({ name }) => name === server);
  return row?.cells.find(([first, last]) => first <= sn && sn <= last)?.[3] ?? "x";
}

/** The server to ask about a cell: its own, or when that does not run another one with the same committed group; empty for none. */
export function readerOf(data: Journals, server: string, sn: number, running: ReadonlySet<string>): string {
  const settled = (name: string): boolean => ["a", "c"].includes(stateAt(data, name, sn));
  if (running.has(server)) return stateAt(data, server, sn) === "x" ? "" : server;
  if (!settled(server)) return "";
  return data.servers.find(({ name }) => running.has(name) && settled(name))?.name ?? "";
}

/** The operations of the journal group at a cell, in words; empty until they are known. */
export function useOperations(data: Journals | null, cell: { server: string; sn: number } | null): string {
  const [found, setFound] = useState({ at: "", words: "" });
  const { server = "", sn = 0 } = cell ?? {};
  const { servers } = shownPicture(useLab.getState());
  const running = new Set(
    Object.values(servers).flatMap(({ name, process }) => (process === "running" ? [name] : [])),
  );
  const reader = data === null || cell === null ? "" : readerOf(data, server, sn, running);
  const at = reader === "" ? "" : `${reader} ${sn}`;
  useEffect(() => {
    if (at === "") return;
    const asked = new AbortController();
    const timer = setTimeout(() => {
      api
        .record(reader, sn, asked.signal)
        .then(({ group }) => {
          const { records } = (group ?? { records: [] }) as { records: Record<string, unknown>[] };
          setFound({ at, words: operationWords(records) });
        })
        .catch(() => setFound({ at: "", words: "" }));
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      asked.abort();
    };
  }, [at, reader, sn]);
  return found.at === at ? found.words : "";
}
