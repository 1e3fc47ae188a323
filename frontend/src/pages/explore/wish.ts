/** What a person asks a search for, and the request of it. */

import type { SearchChoices, SearchedBug, SearchRequest } from "../../api/schema";

export interface Wish {
  /** Empty for all families. */
  family: string;
  /** Empty for the safe variant. */
  bug: string;
  unit: "minutes" | "seeds";
  minutes: number;
  seeds: number;
  first: number;
  jobs: number;
}

export const MINUTES_MAX = 60;
export const SEEDS_MAX = 100_000;

export function proposal({ jobs }: SearchChoices): Wish {
  return { family: "", bug: "", unit: "minutes", minutes: 2, seeds: 200, first: 1, jobs };
}

export function bugOf(choices: SearchChoices, name: string): SearchedBug | undefined {
  return choices.bugs.find((bug) => bug.name === name);
}

/** With another bug, in the family in which it is searched. */
export function withBug(wish: Wish, choices: SearchChoices, name: string): Wish {
  const bug = bugOf(choices, name);
  return bug === undefined ? { ...wish, bug: "" } : { ...wish, bug: name, family: bug.family };
}

/** Families that can be searched with the bug of the wish. */
export function familiesOf(choices: SearchChoices, name: string): string[] {
  return bugOf(choices, name)?.families ?? choices.families.map((family) => family.name);
}

export function requestOf({ family, bug, unit, minutes, seeds, first, jobs }: Wish): SearchRequest {
  const length = unit === "minutes" ? { minutes } : { seeds, first_seed: first };
  return { ...length, jobs, ...(family !== "" && { family }), ...(bug !== "" && { bug }) };
}
