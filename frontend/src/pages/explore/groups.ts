/** Failures in groups, and figures of a search in words. */

import { plural, t } from "@lingui/core/macro";
import type { FailureRow, Search } from "../../api/schema";
import { count } from "../../store/time";

export interface FailureGroup {
  invariant: string;
  count: number;
  rows: FailureRow[];
}

/** Failures by invariant, the most frequent first. */
export function groupsOf(failures: readonly FailureRow[]): FailureGroup[] {
  const found = new Map<string, FailureRow[]>();
  for (const row of failures) found.set(row.invariant, [...(found.get(row.invariant) ?? []), row]);
  return [...found]
    .map(([invariant, rows]) => ({
      invariant,
      rows: rows.toSorted((a, b) => sizeOf(a) - sizeOf(b)),
      count: rows.reduce((sum, row) => sum + row.count, 0),
    }))
    .toSorted((a, b) => b.count - a.count);
}

export function sizeOf({ faults, calls }: FailureRow): number {
  return faults + calls;
}

export function seedWords(seeds: number): string {
  return plural(seeds, { one: "# seed", other: "# seeds" });
}

/** "1:05", "2:03:00". */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  const end = String(whole % 60).padStart(2, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${end}` : `${minutes}:${end}`;
}

/** Share of a search that is done, between 0 and 1. */
export function shareOf({ state, minutes, seeds_asked, seeds, took_s }: Search): number {
  if (state !== "running") return 1;
  if (seeds_asked !== null) return Math.min(1, seeds / seeds_asked);
  return minutes === null ? 0 : Math.min(1, took_s / (minutes * 60));
}

/** Whether a search runs, or a failure is being shrunk. */
export function isUnderWay({ state, failures }: Search): boolean {
  return state === "running" || failures.some((failure) => failure.state === "shrinking");
}

/** "mams, with off_by_one_quorum, 2 minutes". */
export function subjectOf({ family, bug, minutes, seeds_asked, first_seed }: Search): string {
  const who = family ?? t`all families in turn`;
  const what = bug === null ? t`safe` : t`with ${bug}`;
  const length =
    seeds_asked === null
      ? plural(minutes ?? 0, { one: "# minute", other: "# minutes" })
      : t`seeds ${count(first_seed)} to ${count(first_seed + seeds_asked - 1)}`;
  return `${who}, ${what}, ${length}`;
}
