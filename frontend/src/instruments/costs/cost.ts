/** The cost of a write, from the servers' counters: pure. */

import type { Replicated } from "../../api/schema";
import { count } from "../../store/time";

export type Tally = Record<string, Replicated>;

/** Cost per answered write over a span of time. */
export interface Cost {
  writes: number;
  messages: number;
  size: number;
  log_writes: number;
  /** Records per batch, without empty batches; null without any batch. */
  records_per_batch: number | null;
}

export interface Kind {
  kind: string;
  messages: number;
  size: number;
  /** Messages per write over the span; null without a write in it. */
  per_write: number | null;
}

function sum(numbers: Record<string, number>): number {
  return Object.values(numbers).reduce((so_far, number) => so_far + number, 0);
}

interface Sums {
  writes: number;
  messages: number;
  size: number;
  log_writes: number;
  batches: number;
  records: number;
}

function sumsOf(counted: Replicated): Sums {
  const batches = Object.entries(counted.records_per_batch).map(
    ([n, number]) => [Number(n), number] as const,
  );
  return {
    writes: counted.operations,
    messages: sum(counted.messages),
    size: sum(counted.size),
    log_writes: counted.log_writes,
    batches: batches.reduce((so_far, [n, number]) => so_far + (n > 0 ? number : 0), 0),
    records: batches.reduce((so_far, [n, number]) => so_far + n * number, 0),
  };
}

const NOTHING: Sums = { writes: 0, messages: 0, size: 0, log_writes: 0, batches: 0, records: 0 };

/** Servers that ran throughout; a restarted server counts from 0 again and is left out. */
function throughout(before: Tally, after: Tally): (readonly [Replicated, Replicated])[] {
  return Object.entries(after).flatMap(([name, now]) => {
    const old = before[name];
    if (old === undefined) return [];
    const fell = sum(old.messages) > sum(now.messages) || old.log_writes > now.log_writes;
    return fell ? [] : [[old, now] as const];
  });
}

/** Cost between two tallies; null without a write. */
export function costBetween(before: Tally, after: Tally): Cost | null {
  const spent = { ...NOTHING };
  for (const [old, now] of throughout(before, after)) {
    const [less, more] = [sumsOf(old), sumsOf(now)];
    for (const key of Object.keys(spent) as (keyof Sums)[]) spent[key] += more[key] - less[key];
  }
  const { writes, messages, size, log_writes, batches, records } = spent;
  if (writes <= 0) return null;
  return {
    writes,
    messages: messages / writes,
    size: size / writes,
    log_writes: log_writes / writes,
    records_per_batch: batches > 0 ? records / batches : null,
  };
}

/** All messages by kind since each server started, the most frequent first; and the number per write since `before`. */
export function kindsOf(before: Tally, after: Tally): Kind[] {
  const kinds = new Map<string, Kind>();
  for (const { messages, size } of Object.values(after))
    for (const [kind, number] of Object.entries(messages)) {
      const known = kinds.get(kind) ?? { kind, messages: 0, size: 0, per_write: null };
      known.messages += number;
      known.size += size[kind] ?? 0;
      kinds.set(kind, known);
    }
  const writes = costBetween(before, after)?.writes;
  const lived = throughout(before, after);
  if (writes !== undefined)
    for (const each of kinds.values()) {
      const { kind } = each;
      const sent = lived.map(([old, now]) => (now.messages[kind] ?? 0) - (old.messages[kind] ?? 0));
      each.per_write = sent.reduce((so_far, number) => so_far + number, 0) / writes;
    }
  return [...kinds.values()].sort((a, b) => b.messages - a.messages);
}

/** The most frequent kinds, up to the point where the rest is below one in a hundred messages: those belong to takeovers and joining. */
export function frequent(kinds: readonly Kind[]): number {
  const all = kinds.reduce((so_far, { messages }) => so_far + messages, 0);
  const rest = kinds.findIndex(({ messages }) => messages * 100 < all);
  return rest === -1 ? kinds.length : rest;
}

/** 0.04, 1.30, 12.3, 1,235: small numbers have at most three digits. */
export function figure(value: number): string {
  if (value >= 100) return count(value);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
