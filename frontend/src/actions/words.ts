/** Acts and events as whole phrases. */

import type { Verb } from "../api/faults";
import type { LabEvent } from "../api/types";
import { type Vocabulary, vocabularyOf } from "../families/vocabulary";
import { isQuiet, STORAGE_TOLD } from "./storageWords";
import { doneWords, listed, type Options } from "./verbs";

interface Known {
  servers: Record<string, { group: string; sn: number }>;
  groups: Record<string, { commit_sn: number }>;
}

/** What forcing a server costs, as far as the picture shows it. */
export function forceWords(name: string, { servers, groups }: Known): string {
  const { group = "", sn = 0 } = servers[name] ?? {};
  const others = Object.keys(servers).filter((other) => other !== name && servers[other]?.group === group);
  const known = Math.max(groups[group]?.commit_sn ?? 0, ...others.map((other) => servers[other]?.sn ?? 0));
  const begins = `${name} serves with what it has, up to sn ${sn}, and the others of ${group} follow it.`;
  if (known > sn) return `${begins} sn ${sn + 1} to ${known} of ${group} may be lost.`;
  if (others.length === 0) return begins;
  return `${begins} What only ${others.join(" or ")} may hold after that is lost.`;
}

type Tell = (event: never, words: Vocabulary, verbs: readonly Verb[]) => string;

const TOLD: Partial<Record<LabEvent["kind"] | keyof typeof STORAGE_TOLD, Tell>> = {
  ...STORAGE_TOLD,
  Started: (event: { server: string; pid: number }) => `${event.server} started, process ${event.pid}`,
  Stopped: (event: { server: string; reason: string }) => `${event.server} stopped: ${event.reason}`,
  RoleChanged: (event: { server: string; role: string; epoch: number; reason: string }) =>
    `${event.server} sees itself as ${event.role}${event.reason ? `: ${event.reason}` : ""}`,
  Serving: (event: { server: string; epoch: number; sn: number }, { term, place }) =>
    `${event.server} answers clients in ${term} ${event.epoch}, from ${place} ${event.sn}`,
  StoppedServing: (event: { server: string; reason: string }) =>
    `${event.server} answers no longer: ${event.reason}`,
  StepTaken: (event: { server: string; procedure: string; step: string; detail: string }) =>
    `${event.server}, ${event.procedure} step ${event.step}: ${event.detail}`,
  Placed: (event: { of_server: string; state: string }) =>
    event.state === ""
      ? `${event.of_server} has no place in the global view any more`
      : `${event.of_server} is ${event.state} in the global view`,
  LockHeld: (event: { group: string; owner: string }) =>
    event.owner === ""
      ? `nobody holds the lock of ${event.group}`
      : `${event.owner} holds the lock of ${event.group}`,
  EpochRaised: (event: { group: string; epoch: number; active: string }, { term, leads }) =>
    `${event.group} is in ${term} ${event.epoch}; its ${leads} is ${event.active}`,
  Configured: (event: { group: string; of_number: number; members: string[] }, { locked }) =>
    `${locked ? "configuration" : "view"} ${event.of_number} of ${event.group}: ${listed(event.members)}`,
  SessionEnded: (event: { of_server: string; reason: string }) =>
    `the session of ${event.of_server} ended: ${event.reason}`,
  FaultInjected: (event: { verb: string; targets: string[]; options: Options }, _, verbs) =>
    doneWords(verbs, event.verb, event.targets, event.options),
  FaultEnded: (event: { verb: string; targets: string[] }) =>
    `over: ${event.verb.replaceAll("_", " ")} of ${listed(event.targets)}`,
  Renewing: renewingWords,
  LeaseLost: (event: { server: string }) =>
    `${event.server} answers nobody: its coordination session is not confirmed`,
  LeaseConfirmed: (event: { server: string }) => `${event.server} answers again: its session is confirmed`,
  ProcessEnded: (event: { of_server: string; reason: string }) =>
    `${event.of_server} ended by itself: ${event.reason}`,
  ProcessFound: (event: { of_server: string }) =>
    `${event.of_server} runs: its container can be reached again`,
  Warned: (event: { server: string; what: string }) => `${event.server} warns: ${event.what}`,
  Ignored: (event: { server: string; sender: string; kind: string; reason: string }) =>
    `${event.server} ignores a ${event.kind} from ${event.sender}: ${event.reason}`,
  JournalOpened: (event: { server: string; last_sn: number }, { place }) =>
    `${event.server} found its journal up to ${place} ${event.last_sn}`,
  JournalCorrupt: (event: { server: string; file: string; reason: string }) =>
    `${event.server} found ${event.file} damaged: ${event.reason}`,
  Cut: (event: { server: string; sn: number; reason: string }, { place }) =>
    `${event.server} cut its journal after ${place} ${event.sn}: ${event.reason}`,
  CheckFailed: (event: { invariant: string; explanation: string }) =>
    `broken: ${event.invariant}. ${event.explanation}`,
  Durable: (event: { server: string; sn: number }, { place }) =>
    `${event.server} has ${place} ${event.sn} on its disk`,
  Committed: (event: { server: string; sn: number; holders: string[] }, { place, settled }) =>
    `${event.server} knows that ${place} ${event.sn} is ${settled}: ${listed(event.holders)} have it`,
  Applied: (event: { server: string; sn: number }, { place }) =>
    `${event.server} applied ${place} ${event.sn}`,
};

/** An event as a phrase, in the words of the cluster's family; faults in those of the table that was served. */
export function told(
  event: LabEvent,
  words: Vocabulary = vocabularyOf("mams"),
  verbs: readonly Verb[] = [],
): string {
  const tell = TOLD[event.kind] as Tell | undefined;
  return tell?.(event as never, words, verbs) ?? `${event.server}: ${event.kind}`;
}

const OF_ONE_GROUP = new Set(["Durable", "Committed", "Applied", "Called", "Invoked", "StepTaken"]);

/** Whether an event is worth a line by itself; those of single journal groups are too many. */
export function tellsAStory(event: LabEvent): boolean {
  return !OF_ONE_GROUP.has(event.kind) && !isQuiet(event);
}

function renewingWords(event: { server: string; phase: string; sn: number; goal_sn: number }): string {
  const { server, phase, sn, goal_sn } = event;
  if (phase === "done") return `${server} has read what it lacked, up to sn ${sn}`;
  if (phase === "failed") return `${server} could not read on behind sn ${sn}`;
  return `${server} is renewed from the ${phase}: sn ${sn} of ${goal_sn}`;
}
