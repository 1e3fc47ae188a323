/** What the tour knows of one failover, from the cluster's events alone: pure. */

import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { rowOf } from "../actions/verbs";
import type { Drawn, LabEvent, LockRemoved, Serving, SessionEnded, StepTaken, Verb } from "../api/schema";

/** State of the cluster beside its events. */
export interface Scene {
  /** The leader; empty while there is none. */
  leader: string;
  /** Whether the leader answers. */
  served: boolean;
  /** All servers of the group. */
  servers: readonly string[];
  session_timeout_ms: number;
  /** Length of the members' grants to the leader; null when the end of its session decides. */
  grant_ms: number | null;
  /** Name of the group. */
  group: string;
  /** Whether there are several groups. */
  several: boolean;
  verbs: readonly Verb[];
}

export interface Facts {
  /** The fault that began it; null before. */
  fault: LabEvent | null;
  /** The server that was the target of the fault. */
  old: string;
  /** Its lock is removed on evidence, before its session ends. */
  removed: LockRemoved | null;
  /** The end of its session. */
  ended: SessionEnded | null;
  /** The lock becomes free, or with members: the view without the target. */
  freed: LabEvent | null;
  /** The conclusion of the winner of the draw, or the first conclusion. */
  drawn: Drawn | null;
  /** Another server takes the lock. */
  locked: LabEvent | null;
  steps: StepTaken[];
  serving: Serving | null;
  /** The target is back, but behind. */
  behind: boolean;
  /** The target is in step again. */
  inStep: boolean;
}

export const NOTHING: Facts = {
  fault: null,
  old: "",
  removed: null,
  ended: null,
  freed: null,
  drawn: null,
  locked: null,
  steps: [],
  serving: null,
  behind: false,
  inStep: false,
};

/** The server among `names` that this event's fault puts out of service; empty for none. */
function harmed(event: LabEvent, names: readonly string[], verbs: readonly Verb[]): string {
  if (event.kind !== "FaultInjected" || !rowOf(verbs, event.verb)?.unseats) return "";
  return names.find((name) => event.targets.includes(name)) ?? "";
}

/** The facts after an event of a family whose leader holds a lock. */
export function received(facts: Facts, event: LabEvent, scene: Scene, follows: string): Facts {
  const { old, fault, serving } = facts;
  if (fault === null) {
    const hit = harmed(event, [scene.leader], scene.verbs);
    return hit === "" ? facts : { ...NOTHING, fault: event, old: hit };
  }
  if (serving !== null) return returned(facts, event, follows);
  switch (event.kind) {
    case "LockRemoved":
      return event.group === scene.group && event.holder === old ? { ...facts, removed: event } : facts;
    case "SessionEnded":
      return event.of_server === old ? { ...facts, ended: event } : facts;
    case "LockHeld":
      if (event.group !== scene.group) return facts;
      if (event.owner === "") return { ...facts, freed: event, locked: null };
      return event.owner === old ? facts : { ...facts, locked: event };
    case "Drawn":
      if (event.group !== scene.group || event.winner === "") return facts;
      if (facts.drawn !== null && facts.drawn.round >= event.round && event.winner !== event.server)
        return facts;
      return { ...facts, drawn: event };
    case "StepTaken":
      return event.procedure === "upgrade" && scene.servers.includes(event.server)
        ? { ...facts, steps: [...facts.steps, event] }
        : facts;
    case "Serving":
      if (event.group !== scene.group) return facts;
      return { ...facts, serving: event, steps: facts.steps.filter(({ server }) => server === event.server) };
    default:
      return facts;
  }
}

/** The facts after an event of a family with members: one is lost, the others continue in the next view. */
export function receivedOfMembers(facts: Facts, event: LabEvent, scene: Scene): Facts {
  const { old, fault, freed } = facts;
  if (fault === null) {
    const hit = harmed(event, scene.servers, scene.verbs);
    return hit === "" ? facts : { ...NOTHING, fault: event, old: hit };
  }
  if (event.kind === "Placed" && event.of_server === old && event.state === "joining")
    return { ...facts, behind: true };
  if (event.kind !== "Configured" || event.group !== scene.group) return facts;
  if (!event.members.includes(old)) return { ...facts, freed: facts.freed ?? event };
  return freed === null ? facts : { ...facts, inStep: true };
}

function returned(facts: Facts, event: LabEvent, follows: string): Facts {
  if (event.kind !== "Placed" || event.of_server !== facts.old) return facts;
  if (event.state === follows) return { ...facts, behind: true, inStep: true };
  return event.state === "" ? facts : { ...facts, behind: true };
}

/** A moment of the takeover: an event, its title and its meaning. */
export interface Phase {
  event: LabEvent;
  title: string;
  why: string;
}

/** Steps of the upgrade (CFS §4.2.2, Fig. 5) in plain words. */
const STEPS: Partial<Record<string, readonly [title: MessageDescriptor, why: MessageDescriptor]>> = {
  "0": [
    msg`Reads the last epoch`,
    msg`It learns which tenure has ended, and applies everything that was committed in it.`,
  ],
  "1": [msg`Checks itself`, msg`A server that is behind must give up the lock while another one is in step.`],
  "2": [
    msg`Writes the new epoch`,
    msg`One transaction makes it the active and the old active a junior. From here on everybody refuses journals of older epochs: this is the fence. The old active may still run, but what it sends counts no more.`,
  ],
  "3": [msg`Accepts requests`, msg`Clients that find it are let in. Their calls wait; none is executed yet.`],
  "3b": [
    msg`Collects the journals`,
    msg`It asks the others how far their journals reach, and copies what it lacks. Everything that was ever acknowledged is on one of the servers that must answer here.`,
  ],
  "4": [
    msg`Makes all journals equal`,
    msg`It sends its journal to the others, and one empty entry of the new epoch. Once that entry is on enough disks, so is everything before it.`,
  ],
  "4b": [
    msg`Regains a quorum`,
    msg`Too few servers hold the journal: those that are behind are brought into step before it serves.`,
  ],
  "5": [
    msg`Registers the standbys`,
    msg`Servers whose journals are equal are standbys in the global view; the others are juniors.`,
  ],
  "6": [
    msg`Becomes the active`,
    msg`The waiting calls are executed and answered, and clients are served again.`,
  ],
  "7": [msg`The view is stable`, msg`Every member is in step: the group can survive the next failure.`],
};

/** The moments of a takeover in their order. */
export function phasesOf({
  fault,
  removed,
  ended,
  freed,
  drawn,
  locked,
  steps,
  serving,
  old,
}: Facts): Phase[] {
  const found: (Phase | null)[] = [
    fault && { event: fault, title: t`Fault at ${old}`, why: t`No server answers from here on.` },
    removed && {
      event: removed,
      title: t`The lock of ${old} is removed`,
      why:
        removed.evidence === "death"
          ? t`The one that had started the process saw it end, and recorded that it sends no more answers. So no other server has to wait.`
          : t`The others received no heartbeat from it for a whole lease. Most of them agreed, so that one of them removed the lock.`,
    },
    ended && {
      event: ended,
      title: t`Session of ${old} ends`,
      why:
        removed === null
          ? t`The coordination service has received no heartbeat for the session time-out. It removes what the session owned: the lock.`
          : t`The lock is gone already. The coordination service removes what else the session owned.`,
    },
    freed && {
      event: freed,
      title: t`The lock is free`,
      why: t`The other servers watch the lock and are notified.`,
    },
    drawn && {
      event: drawn,
      title: t`The draw`,
      why: t`Each contender has written a number and the end of its journal into the coordination service, and reads those of the others.`,
    },
    locked && {
      event: locked,
      title: t`A new holder of the lock`,
      why: t`Only one server can create the lock. It leads from here on, but does not answer yet.`,
    },
    ...steps.map((event) => {
      const known = STEPS[event.step];
      const [title, why] = known === undefined ? [event.step, ""] : known.map((text) => i18n._(text));
      return { event, title: `${event.step}. ${title}`, why: why ?? "" };
    }),
    serving && {
      event: serving,
      title: t`${serving.server} answers`,
      why: t`Clients find it by themselves: they ask the coordination service and send the same calls again.`,
    },
  ];
  return found
    .filter((phase) => phase !== null)
    .sort((a, b) => a.event.at_ns - b.event.at_ns || a.event.seq - b.event.seq);
}

/** What ended the old leader's role: the lock was removed on evidence, its session ended, or the lock became free. */
export function overOf({ removed, ended, freed }: Facts): LabEvent | null {
  return removed ?? ended ?? freed;
}

/** Milliseconds from the fault to an event; null when one of them has not happened. */
export function sinceFault({ fault }: Facts, event: LabEvent | null): number | null {
  return fault === null || event === null ? null : (event.at_ns - fault.at_ns) / 1e6;
}
