/** Terms on the cluster page that a person may read there for the first time. */

import type { Role, Vocabulary } from "../api/schema";
import { ROLES } from "./roles";

export type Entry = readonly [word: string, says: string];

export function lagWords({ unit }: Vocabulary): string {
  return `how many committed ${unit}s this server has not written to its disk yet`;
}

const VIEW =
  "what the coordination service has written down about a group: who has which role, the lock, the configuration";

function lockWords({ leads, follows }: Vocabulary): Entry[] {
  return [
    ["lock", `a node in the coordination service; its holder is the ${leads}`],
    [
      "session",
      "a server's connection to the coordination service, kept alive by heartbeats; without them it ends after the session time-out, and its lock with it",
    ],
    ["failover", `another server becomes the ${leads} because the old one is gone; also called takeover`],
    [
      "draw",
      `the election: each ${follows} writes a random number; the longest journal wins, among equals the largest number`,
    ],
  ];
}

/** The terms that a first visit needs at once. */
export function tourWords(words: Vocabulary): Entry[] {
  const { leads, follows, place, says, locked } = words;
  const roles = [leads, follows].flatMap((role): Entry[] =>
    role in ROLES ? [[role, ROLES[role as Role].says]] : [],
  );
  return [
    ...roles,
    [place, says.place],
    ...(locked ? lockWords(words).slice(0, 3) : [[words.term, says.term] as const]),
  ];
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
    ...(locked ? lockWords(words) : []),
    ...(locked ? [["view", VIEW] as const] : []),
    [
      "configuration",
      "the members whose answers count in a quorum, and their disks; each change has the next number",
    ],
    ["replica group", "servers with the same journal, that keep one part of the tree (g1, g2, …)"],
    ["journal group", `the records that are written and sent together; each has one ${place}`],
    ["ok/s, p99", "calls that succeeded in a second; 99 of 100 were answered within this time"],
    ["invariant", "a check of the running cluster: green held so far, red broken, grey not checked"],
    ["hole", "a step that a paper leaves open: a switch, closed unless the cluster opens it"],
  ];
}
