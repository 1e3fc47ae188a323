/** Terms on the cluster page that a person may read there for the first time. */

import { i18n } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import type { Role, Vocabulary } from "../api/schema";
import { ROLES } from "./roles";

export type Entry = readonly [word: string, says: string];

export function lagWords({ unit }: Vocabulary): string {
  return t`how many committed ${unit}s this server has not written to its disk yet`;
}

const VIEW = msg`what the coordination service has written down about a group: who has which role, the lock, the configuration`;

function lockWords({ leads, follows }: Vocabulary): Entry[] {
  return [
    [
      t({ context: "a term of the glossary", message: "lock" }),
      t`a node in the coordination service; its holder is the ${leads}`,
    ],
    [
      t({ context: "a term of the glossary", message: "session" }),
      t`a server's connection to the coordination service, kept alive by heartbeats; without them it ends after the session time-out, and its lock with it`,
    ],
    [
      t({ context: "a term of the glossary", message: "failover" }),
      t`another server becomes the ${leads} because the old one is gone; also called takeover`,
    ],
    [
      t({ context: "a term of the glossary", message: "draw" }),
      t`the election: each ${follows} writes a random number; the longest journal wins, among equals the largest number`,
    ],
  ];
}

/** The terms that a first visit needs at once. */
export function tourWords(words: Vocabulary): Entry[] {
  const { leads, follows, place, says, locked } = words;
  const roles = [leads, follows].flatMap((role): Entry[] =>
    role in ROLES ? [[role, i18n._(ROLES[role as Role].says)]] : [],
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
    ...roles.map(([role, { says }]) => [role, i18n._(says)] as const),
    [place, says.place],
    [term, says.term],
    [t({ context: "a term of the glossary", message: "lag" }), lagWords(words)],
    ...(locked ? lockWords(words) : []),
    ...(locked ? [[t({ context: "a term of the glossary", message: "view" }), i18n._(VIEW)] as const] : []),
    [
      t({ context: "a term of the glossary", message: "configuration" }),
      t`the members whose answers count in a quorum, and their disks; each change has the next number`,
    ],
    [t`replica group`, t`servers with the same journal, that keep one part of the tree (g1, g2, …)`],
    [t`journal group`, t`the records that are written and sent together; each has one ${place}`],
    [t`ok/s, p99`, t`calls that succeeded in a second; 99 of 100 were answered within this time`],
    [
      t({ context: "a term of the glossary", message: "invariant" }),
      t`a check of the running cluster: green held so far, red broken, grey not checked`,
    ],
    [
      t({ context: "a term of the glossary", message: "hole" }),
      t`a step that a paper leaves open: a switch, closed unless the cluster opens it`,
    ],
  ];
}
