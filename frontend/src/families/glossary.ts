/** The words on the cluster page that a person may meet there for the first time. */

import { ROLES } from "./roles";
import type { Vocabulary } from "./vocabulary";

export type Entry = readonly [word: string, says: string];

export function lagWords({ unit }: Vocabulary): string {
  return `how many ${unit}s that are safe for good a server has not on its disk yet`;
}

/** Of a family, in the order in which they are met. */
export function glossaryOf(words: Vocabulary): Entry[] {
  const { leads, follows, behind, locked, place, term, says } = words;
  const roles = Object.entries(ROLES).filter(([role]) => [leads, follows, behind].includes(role));
  return [
    ...roles.map(([role, { says }]) => [role, says] as const),
    [place, says.place],
    [term, says.term],
    ["lag", lagWords(words)],
    ...(locked
      ? [["lock", "lies in the coordination service; whoever holds it leads the group"] as const]
      : []),
    ["ok/s, p99", "calls that succeeded in a second; 99 of 100 were answered within this time"],
    ["octet", "eight bits, a byte"],
  ];
}
