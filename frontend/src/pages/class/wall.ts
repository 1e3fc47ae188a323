/** What the wall says about students, and in which order. */

import { plural, t } from "@lingui/core/macro";
import type { Tile } from "../../api/schema";

const SIGNS: Record<Tile["steps"][number]["state"], string> = {
  open: "○",
  answered: "●",
  passed: "✓",
  failed: "✗",
};

export function signOf({ state }: Tile["steps"][number]): string {
  return SIGNS[state];
}

/** What a student is doing, in a few words. */
export function doing({ lab, phase, cluster, steps, run_s }: Tile): string {
  if (lab === "") return cluster === null ? t`has no cluster now` : t`free cluster`;
  const passed = steps.filter(({ state }) => state === "passed").length;
  if (phase === "predict") return t`${lab}: predicting`;
  if (phase === "run")
    return t`${lab}: running for ${Math.floor(run_s)} s, ${passed} of ${steps.length} steps`;
  return passed === steps.length ? t`${lab}: passed` : t`${lab}: ${passed} of ${steps.length} steps passed`;
}

/** How long ago a student was there. */
export function seen({ absent, away_s }: Tile): string {
  if (!absent) return "";
  if (away_s < 3600) return t`away for ${Math.max(1, Math.floor(away_s / 60))} min`;
  return t`away for ${Math.floor(away_s / 3600)} h`;
}

export function summary(tiles: readonly Tile[]): string {
  const stuck = tiles.filter(isStuck).length;
  const students = plural(tiles.length, { one: "# student", other: "# students" });
  const away = tiles.filter(({ absent }) => absent).length;
  return t`${students}, ${stuck} stuck, ${away} away`;
}

export function isStuck({ stuck, absent }: Tile): boolean {
  return stuck !== "" && !absent;
}

/** Who is stuck comes first, who is away last; otherwise by name, so that tiles do not jump about. */
export function attentionFirst(tiles: readonly Tile[]): Tile[] {
  const rank = (tile: Tile): number => (isStuck(tile) ? 0 : tile.absent ? 2 : 1);
  return [...tiles].sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
}

/** The link of a student with a key, at the place where students join. */
export function linkOf(address: string, key: string): string {
  return new URL(`/labs?key=${key}`, address).href;
}
