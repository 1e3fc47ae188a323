/** The rows of the table: figures of each configuration, and the better direction. */

import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Measured } from "../../api/schema";
import { count, milliseconds } from "../../store/time";

export interface Row {
  name: MessageDescriptor;
  says: MessageDescriptor;
  of: (measured: Measured) => number | null;
  shown: (value: number) => string;
}

const fine = (value: number): string => (value >= 100 ? count(value) : value.toFixed(2));

/** Less is better in all of them, except for calls, whose target is the same for all. */
export const ROWS: readonly Row[] = [
  { name: msg`calls`, says: msg`that the workload made`, of: ({ calls }) => calls, shown: count },
  {
    name: msg`failed calls`,
    says: msg`that ended with an operating error`,
    of: ({ failed_calls }) => failed_calls,
    shown: count,
  },
  {
    name: msg`longest outage`,
    says: msg`without a success while a client waited`,
    of: ({ longest_outage_ms }) => longest_outage_ms,
    shown: milliseconds,
  },
  { name: msg`median latency`, says: msg`of all calls`, of: ({ p50_ms }) => p50_ms, shown: milliseconds },
  {
    name: msg`99th percentile`,
    says: msg`of the latency of all calls`,
    of: ({ p99_ms }) => p99_ms,
    shown: milliseconds,
  },
  {
    name: msg`messages per call`,
    says: msg`of every kind, between all servers and clients`,
    of: ({ messages_per_call }) => messages_per_call,
    shown: fine,
  },
  {
    name: msg`bytes per call`,
    says: msg`in those messages`,
    of: ({ bytes_per_call }) => bytes_per_call,
    shown: fine,
  },
  {
    name: msg`log writes per call`,
    says: msg`logs synced, on all servers`,
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
