/** The measured power of the search: known bugs with their last search on this machine. */

import type { BugScore, SearchedBug } from "../../api/schema";

export type ScoreState = "found" | "missed" | "unmeasured";
export type Scores = Readonly<Record<string, BugScore>>;

export interface ScoreRow {
  bug: SearchedBug;
  /** Null when the bug was not measured here. */
  score: BugScore | null;
  state: ScoreState;
}

export interface ScoreSummary {
  counts: Record<ScoreState, number>;
  measured: number;
  /** Whole percent of the measured bugs, rounded down: 100 means all of them. Null when none was measured. */
  foundPercent: number | null;
  slowest: ScoreRow | null;
  limits_s: [least: number, most: number];
  jobs: number[];
  versions: string[];
  /** Seconds since 1970. */
  measured_s: [first: number, last: number];
}

export const ORDERS = ["hardest", "name"] as const;
export type Order = (typeof ORDERS)[number];

/** Every known bug with its score. */
export function scoreRows(bugs: readonly SearchedBug[], scores: Scores): ScoreRow[] {
  return bugs.map((bug) => {
    const score = scores[bug.name] ?? null;
    return { bug, score, state: stateOf(score) };
  });
}

function stateOf(score: BugScore | null): ScoreState {
  if (score === null) return "unmeasured";
  return score.invariant === "" ? "missed" : "found";
}

/** Found and missed bugs count as measured; the others say nothing about the search. */
export function summaryOf(rows: readonly ScoreRow[]): ScoreSummary {
  const counts = { found: 0, missed: 0, unmeasured: 0 };
  for (const { state } of rows) counts[state] += 1;
  const scores = rows.flatMap(({ score }) => (score === null ? [] : [score]));
  const measured = scores.length;
  return {
    counts,
    measured,
    foundPercent: measured === 0 ? null : Math.floor((100 * counts.found) / measured),
    slowest: ordered(rows, "hardest").find(({ state }) => state === "found") ?? null,
    limits_s: span(scores.map(({ limit_s }) => limit_s)),
    jobs: [...new Set(scores.map(({ jobs }) => jobs))].toSorted((a, b) => a - b),
    versions: [...new Set(scores.map(({ version }) => version))].toSorted(),
    measured_s: span(scores.map(({ measured_at_s }) => measured_at_s)),
  };
}

function span(values: readonly number[]): [number, number] {
  return values.length === 0 ? [0, 0] : [Math.min(...values), Math.max(...values)];
}

const HARDNESS: Record<ScoreState, number> = { missed: 0, found: 1, unmeasured: 2 };

/** The hardest first: bugs that were not found, then by the time until they were; or by name. */
export function ordered(rows: readonly ScoreRow[], order: Order): ScoreRow[] {
  const byName = (a: ScoreRow, b: ScoreRow) => a.bug.name.localeCompare(b.bug.name, "en");
  if (order === "name") return rows.toSorted(byName);
  return rows.toSorted(
    (a, b) =>
      HARDNESS[a.state] - HARDNESS[b.state] ||
      (b.score?.took_s ?? 0) - (a.score?.took_s ?? 0) ||
      byName(a, b),
  );
}

/** "0.4 s", "12.0 s". */
export function seconds(amount: number): string {
  return `${amount.toFixed(1)} s`;
}
