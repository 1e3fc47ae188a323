/** The rows of the table: figures of each configuration, and the better direction. */

import type { Measured } from "../../api/schema";
import { count, milliseconds } from "../../store/time";

export interface Row {
  name: string;
  says: string;
  of: (measured: Measured) => number | null;
  shown: (value: number) => string;
}

const fine = (value: number): string => (value >= 100 ? count(value) : value.toFixed(2));

/** Less is better in all of them, except for calls, whose target is the same for all. */
export const ROWS: readonly Row[] = [
  { name: "calls", says: "that the workload made", of: ({ calls }) => calls, shown: count },
  {
    name: "failed calls",
    says: "that ended with an operating error",
    of: ({ failed_calls }) => failed_calls,
    shown: count,
  },
  {
    name: "longest outage",
    says: "without a success while a client waited",
    of: ({ longest_outage_ms }) => longest_outage_ms,
    shown: milliseconds,
  },
  { name: "median latency", says: "of all calls", of: ({ p50_ms }) => p50_ms, shown: milliseconds },
  {
    name: "99th percentile",
    says: "of the latency of all calls",
    of: ({ p99_ms }) => p99_ms,
    shown: milliseconds,
  },
  {
    name: "messages per call",
    says: "of every kind, between all servers and clients",
    of: ({ messages_per_call }) => messages_per_call,
    shown: fine,
  },
  {
    name: "bytes per call",
    says: "in those messages",
    of: ({ bytes_per_call }) => bytes_per_call,
    shown: fine,
  },
  {
    name: "log writes per call",
    says: "logs synced, on all servers",
    of: ({ log_writes_per_call }) => log_writes_per_call,
    shown: fine,
  },
];

const RARE = 0.01;

/** Whether a configuration sends this kind at least once in a hundred calls. */
export function isCommon({ per_call }: { per_call: readonly (number | null)[] }): boolean {
  return per_call.some((value) => value !== null && value >= RARE);
}

/** Kinds of messages, the most frequent first, with the number per call in every configuration. */
export function kinds(
  measured: readonly (Measured | null)[],
): { kind: string; per_call: (number | null)[] }[] {
  const most = new Map<string, number>();
  for (const each of measured) {
    for (const [kind, { count: sent }] of Object.entries(each?.messages ?? {})) {
      most.set(kind, Math.max(most.get(kind) ?? 0, sent / Math.max(1, each?.calls ?? 1)));
    }
  }
  return [...most]
    .sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]))
    .map(([kind]) => ({
      kind,
      per_call: measured.map((each) =>
        each === null ? null : (each.messages[kind]?.count ?? 0) / Math.max(1, each.calls),
      ),
    }));
}
