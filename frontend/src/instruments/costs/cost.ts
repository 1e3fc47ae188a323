/** What a write costs a group, from what its servers count: pure. */

import type { Replicated } from "../../api/counts";
import { count } from "../../store/time";

export type Tally = Record<string, Replicated>;

/** Per write that a client was answered, over a stretch of time. */
export interface Cost {
  writes: number;
  messages: number;
  octets: number;
  log_writes: number;
  /** Records in a message that carries any; null when none was sent. */
  records_per_message: number | null;
}

export interface Kind {
  kind: string;
  messages: number;
  octets: number;
}

function sum(numbers: Record<string, number>): number {
  return Object.values(numbers).reduce((so_far, number) => so_far + number, 0);
}

interface Sums {
  writes: number;
  messages: number;
  octets: number;
  log_writes: number;
  carriers: number;
  records: number;
}

function sumsOf(counted: Replicated): Sums {
  const carrying = Object.entries(counted.records_per_message).map(
    ([n, messages]) => [Number(n), messages] as const,
  );
  return {
    writes: counted.operations,
    messages: sum(counted.messages),
    octets: sum(counted.octets),
    log_writes: counted.log_writes,
    carriers: carrying.reduce((so_far, [n, messages]) => so_far + (n > 0 ? messages : 0), 0),
    records: carrying.reduce((so_far, [n, messages]) => so_far + n * messages, 0),
  };
}

const NOTHING: Sums = { writes: 0, messages: 0, octets: 0, log_writes: 0, carriers: 0, records: 0 };

/** What was spent between two tallies; a server that began anew meanwhile, or came or went, is left out. null without a write. */
export function costBetween(before: Tally, after: Tally): Cost | null {
  const spent = { ...NOTHING };
  for (const [name, counted] of Object.entries(after)) {
    const earlier = before[name];
    if (earlier === undefined || sum(earlier.messages) > sum(counted.messages)) continue;
    const [old, now] = [sumsOf(earlier), sumsOf(counted)];
    for (const key of Object.keys(spent) as (keyof Sums)[]) spent[key] += now[key] - old[key];
  }
  const { writes, messages, octets, log_writes, carriers, records } = spent;
  if (writes <= 0) return null;
  return {
    writes,
    messages: messages / writes,
    octets: octets / writes,
    log_writes: log_writes / writes,
    records_per_message: carriers > 0 ? records / carriers : null,
  };
}

/** All messages by kind since each server began, the most frequent first. */
export function kindsOf(tally: Tally): Kind[] {
  const kinds = new Map<string, Kind>();
  for (const { messages, octets } of Object.values(tally))
    for (const [kind, number] of Object.entries(messages)) {
      const known = kinds.get(kind) ?? { kind, messages: 0, octets: 0 };
      known.messages += number;
      known.octets += octets[kind] ?? 0;
      kinds.set(kind, known);
    }
  return [...kinds.values()].sort((a, b) => b.messages - a.messages);
}

/** 0.042, 1.3, 310: three figures at most behind small numbers. */
export function figure(value: number): string {
  if (value >= 100) return count(value);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
