/** Terms on the cluster page that a person may read there for the first time. */

import type { Vocabulary } from "../api/schema";
import { ROLES } from "./roles";

export type Entry = readonly [word: string, says: string];

export function lagWords({ unit }: Vocabulary): string {
  return `how many committed ${unit}s this server has not written to its disk yet`;
}

/** Terms of a family, in the order of their first use. */
export function glossaryOf(words: Vocabulary): Entry[] {
  const { leads, follows, behind, locked, place, term, says } = words;
  const roles = Object.entries(ROLES).filter(([role]) => [leads, follows, behind].includes(role));
  return [
    ...roles.map(([role, { says }]) => [role, says] as const),
    [place, says.place],
    [term, says.term],
    ["lag", lagWords(words)],
    ...(locked ? [["lock", "a node in the coordination service; its holder leads the group"] as const] : []),
    ["ok/s, p99", "calls that succeeded in a second; 99 of 100 were answered within this time"],
    ["invariant", "a check of the running cluster: green held so far, red broken, grey not checked"],
    ["hole", "a step that a paper leaves open: a switch, closed unless the cluster opens it"],
  ];
}
