/** The words of each family of protocols, for the same things on the same instruments. */

import type { CellState } from "../api/types";
import type { PageName } from "../store/store";

export interface Vocabulary {
  /** The family, as its authors write it. */
  called: string;
  /** What a tenure, and its number, is called. */
  term: string;
  /** What a place in the order of writes is called. */
  place: string;
  /** What these two mean, for who meets them for the first time. */
  says: { term: string; place: string };
  /** What is written to the journal at such a place. */
  unit: string;
  /** In what records travel together. */
  batch: string;
  /** The states of such a unit on one server: the word, and what it means. */
  states: Record<CellState, readonly [name: string, says: string]>;
  /** What is safe for good is called, up to a place. */
  settled: string;
  /** One server at a time holds the group's lock and leads; else the members of a view agree. */
  locked: boolean;
  /** Who comes first in a tenure, who is in step with it, and who is not yet. */
  leads: string;
  follows: string;
  behind: string;
  /** How it is decided who leads next, as a sentence. */
  election: string;
  /** What a server does that has been elected and does not serve yet. */
  elected: string;
  /** How a server begins that was added. */
  begins: string;
  /** Messages by colour, where they have words of their own. */
  messages: { takeover: string; renewing: string; view: string };
  /** Pages on which there is nothing to see: its servers write no images, or mark no checkpoints. */
  lacks: readonly PageName[];
  /** What journal nodes are called; empty for families without. */
  journalNodes: string;
  /** What the number of an epoch is called at a journal node. */
  journalTerm: string;
}

const MAMS: Vocabulary = {
  called: "MAMS",
  term: "epoch",
  place: "sn",
  says: {
    term: "counts the actives of a group: each takeover begins the next one",
    place: "serial number of a journal group: all servers write the same groups in the same order",
  },
  unit: "group",
  batch: "group",
  states: {
    p: ["prepared", "durable here, not known to be committed"],
    c: ["committed", "safe for good, not in the namespace here yet"],
    a: ["applied", "committed, and in the namespace of this server"],
    e: ["other epoch", "of another epoch than the committed one: it will be cut off"],
    x: ["missing", "others have it, this server has not"],
  },
  settled: "committed",
  locked: true,
  leads: "active",
  follows: "standby",
  behind: "junior",
  election: "Each standby drew a number; the largest one takes the lock.",
  elected: "upgrading",
  begins: "as a junior",
  messages: { takeover: "takeover", renewing: "renewing, images", view: "view" },
  lacks: [],
  journalNodes: "",
  journalTerm: "epoch",
};

const SHARED_JOURNAL: Vocabulary = {
  ...MAMS,
  election: "The standby that is first takes it, and shuts the old active out of the journal.",
  elected: "taking over",
  messages: { ...MAMS.messages, renewing: "reading the journal" },
  states: { ...MAMS.states, p: ["written", "in this server's own journal, not known to be committed"] },
  lacks: ["checkpoints"],
  journalNodes: "journal nodes",
};

const PAXOS: Vocabulary = {
  ...MAMS,
  term: "ballot",
  place: "slot",
  says: {
    term: "the number of an elected primary; the next one has a larger number",
    place: "a place in the order of writes; in the end it holds the same record on all servers",
  },
  unit: "record",
  batch: "message",
  states: {
    p: ["accept", "accepted and durable here, not known to be decided"],
    c: ["success", "decided, not executed here yet"],
    a: ["executed", "success: decided, and in the namespace of this server"],
    e: ["other record", "another record than the decided one: it will be replaced"],
    x: ["empty", "no record here, though a later slot has one somewhere"],
  },
  settled: "decided",
  leads: "primary",
  follows: "secondary",
  behind: "joining",
  election: "Each secondary drew a number; the largest one takes the lock.",
  elected: "taking over",
  begins: "joining",
  messages: { takeover: "takeover", renewing: "joining", view: "leases, view" },
  lacks: ["pool", "checkpoints"],
};

const SYMMETRIC: Vocabulary = {
  ...MAMS,
  term: "view",
  says: {
    ...MAMS.says,
    term: "who is a member now, by number: when somebody comes or goes, the next view begins",
  },
  states: {
    p: ["delivered", "in its place of the order and durable here, not known to be on every member"],
    c: ["stable", "on every member, not carried out here yet"],
    a: ["carried out", "on every member, and in the namespace of this one"],
    e: ["other view", "of an attempt at a view that came to nothing: it will be cut off"],
    x: ["missing", "others have it, this server has not"],
  },
  settled: "on all members",
  locked: false,
  leads: "first member",
  follows: "member",
  behind: "joining",
  election: "",
  elected: "joining",
  begins: "outside the view and joins it",
  messages: { takeover: "view change", renewing: "joining", view: "leases, view" },
  lacks: ["pool", "checkpoints"],
};

const FAMILIES: Record<string, Vocabulary> = {
  mams: MAMS,
  single: { ...MAMS, called: "single server" },
  "2pc": { ...MAMS, called: "two-phase commit" },
  backupnode: { ...MAMS, called: "BackupNode" },
  qjm: { ...SHARED_JOURNAL, called: "QJM" },
  bookkeeper: { ...SHARED_JOURNAL, called: "BookKeeper", journalNodes: "bookies", journalTerm: "ledger" },
  avatar: { ...SHARED_JOURNAL, called: "AvatarNode", journalNodes: "filer" },
  "hadoop-ha": { ...SHARED_JOURNAL, called: "Hadoop HA" },
  "packed-paxos": { ...PAXOS, called: "Packed Multi-Paxos" },
  "multi-paxos": { ...PAXOS, called: "Multi-Paxos" },
  symmetric: { ...SYMMETRIC, called: "symmetric" },
};

/** The words of the family behind `--protocol`. */
export function vocabularyOf(protocol: string | undefined): Vocabulary {
  return FAMILIES[protocol ?? "mams"] ?? MAMS;
}

/** A state of a journal cell in full. */
export function stateWords({ states }: Vocabulary, state: CellState): string {
  const [name, says] = states[state];
  return `${name} (${says})`;
}
