/** Steps of the tour. A step stays until the person goes on; some can be left only when the cluster has done its part. Pure. */

import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import type { Vocabulary } from "../api/schema";
import { milliseconds } from "../store/time";
import { type Facts, overOf, type Scene, sinceFault } from "./facts";

/** What is shown beside the text. */
export type Exhibit = "words" | "progress" | "draw" | "phases" | "evidence" | "stories" | "none";

export interface Step {
  id: string;
  title: MessageDescriptor;
  exhibit: Exhibit;
  text: (facts: Facts, scene: Scene) => string;
  /** Whether the person can go on. */
  done: (facts: Facts) => boolean;
}

const ALWAYS = (): boolean => true;

function brokenText(facts: Facts, scene: Scene, words: Vocabulary): string {
  const { leader, served, session_timeout_ms, grant_ms } = scene;
  const { fault, old, removed, ended, locked, serving } = facts;
  if (fault === null && !served) return t`No server answers now: too few are left. Restart the stopped ones.`;
  if (fault === null)
    return t`Crash ${leader || t`it`}: click its card below and choose Crash, or press its number and then C. Nothing can be lost for good: this is a real failure of a real process, and that is what the others are for.`;
  if (serving !== null)
    return t`${serving.server} answers, ${milliseconds(sinceFault(facts, serving) ?? 0)} after the fault, in ${words.term} ${serving.epoch}. That was a failover. Go on to see what happened in that time.`;
  if (locked !== null)
    return t`One of the others holds the lock and makes all journals equal before it answers.`;
  if (removed !== null) return t`The lock is free. ${words.election}`;
  if (ended !== null) return t`The session has ended and its lock is free. ${words.election}`;
  if (grant_ms !== null)
    return t`${old} is gone and no server answers, yet the others must wait: it cannot be known from outside whether ${old} is dead or only slow. It answers under a lease that the others grant, ${grant_ms / 1000} s at a time. When they receive nothing from it until the last one has run out, they may remove its lock.`;
  return t`${old} is gone and no server answers, yet the others must wait: it cannot be known from outside whether ${old} is dead or only slow. If another one answered now and ${old} came back, two servers would answer differently. So ${old} keeps its lock until its session ends: ${session_timeout_ms / 1000} s without a heartbeat.`;
}

/** The tour of families whose leader holds a lock. */
export function takeoverSteps(words: Vocabulary): Step[] {
  const { leads, follows, behind, place } = words;
  const meets = (leader: string, group: string, others: number): string => {
    const place = group === "" ? "" : t` of ${group}`;
    const there = group === "" ? "" : t` there`;
    return leads === "primary"
      ? t`${leader} is the ${leads}${place}: it answers every write${there}. The other ${others} write the same journal to their own disks and wait. A client calls all the time; its rate is on its card.`
      : t`${leader} is the ${leads}${place}: it answers every call${there}. The other ${others} write the same journal to their own disks and wait. A client calls all the time; its rate is on its card.`;
  };
  return [
    {
      id: "meet",
      title: msg`The cluster`,
      exhibit: "words",
      text: (_, { leader, served, servers, group, several }) =>
        served
          ? meets(leader, several ? group : "", servers.length - 1)
          : t`No server answers now: too few are left. Restart the stopped ones.`,
      done: ALWAYS,
    },
    {
      id: "break",
      title: msg`Cause a failover`,
      exhibit: "progress",
      text: (facts, scene) => brokenText(facts, scene, words),
      done: ({ serving }) => serving !== null,
    },
    {
      id: "wait",
      title: msg`Why the others waited`,
      exhibit: "progress",
      text: (facts, { session_timeout_ms, grant_ms }) => {
        const took = sinceFault(facts, overOf(facts));
        const measured = took === null ? "" : t` Here it took ${milliseconds(took)}.`;
        if (grant_ms !== null) {
          const why =
            facts.removed?.evidence === "death"
              ? t`This time they need not have waited: the program that had started ${facts.old} saw its process end and recorded that it answers no more. Only such a record is certain; silence is not.`
              : t`A silent server may be dead, paused or cut off. The others received nothing from ${facts.old} until its last lease had run out, so it could not answer any more, and removed its lock.`;
          return t`While ${facts.old} led, it sent heartbeats, and the others granted it a lease of ${grant_ms / 1000} s with each answer. It answered clients only while most of them had. ${why}${measured} Without leases they wait until its session with the coordination service ends: ${session_timeout_ms / 1000} s.`;
        }
        return t`Every server has a session with the coordination service and renews it by heartbeats. The lock belongs to the session of ${facts.old}. A silent server may be dead, paused or cut off; only after ${session_timeout_ms / 1000} s without a heartbeat the service ends the session and removes the lock.${measured} A shorter time-out would be faster, but a short pause would already cost a failover.`;
      },
      done: ALWAYS,
    },
    {
      id: "draw",
      title: msg`Which ${follows} takes over`,
      exhibit: "draw",
      text: ({ drawn }) => {
        if (drawn === null) return words.election;
        const why =
          drawn.by === "journal"
            ? t`The journal decides: that of ${drawn.winner} reaches further than the others, so the numbers did not matter.`
            : drawn.by === "number"
              ? t`All journals that count end at the same ${place}, so the number decides: ${drawn.winner} drew the largest.`
              : t`Only ${drawn.winner} could be elected.`;
        return t`Each ${follows} drew a random number and wrote it down with the end of its journal. ${why}`;
      },
      done: ALWAYS,
    },
    {
      id: "phases",
      title: msg`The takeover, step by step`,
      exhibit: "phases",
      text: () => t`Choose a moment to see the cluster as it was then, or replay them slowly.`,
      done: ALWAYS,
    },
    {
      id: "evidence",
      title: msg`Was anything lost?`,
      exhibit: "evidence",
      text: ({ serving }) =>
        t`What clients were answered is compared with the journal of ${serving?.server ?? t`the new one`}, entry by entry, by checksums.`,
      done: ALWAYS,
    },
    {
      id: "repair",
      title: msg`Bring it back`,
      exhibit: "none",
      text: ({ old, behind: back, inStep }) => {
        if (inStep) return t`${old} is ${follows} again: the group can survive the next failure.`;
        if (back)
          return t`${old} is back as ${behind}. It catches up until it has the same journal; then it is ${follows} again.`;
        return t`Restart ${old}: select its card and press R. Its memory is gone, its disk is not.`;
      },
      done: ({ inStep }) => inStep,
    },
    {
      id: "end",
      title: msg`You have caused a failover, and seen why nothing was lost`,
      exhibit: "stories",
      text: () =>
        t`Next, drag a server to “Cut off”: it lives, but no other server can reach it. Or go on with a page of its own:`,
      done: ALWAYS,
    },
  ];
}

/** The tour of families with members: one is crashed, the others continue in the next view. */
export const MEMBER_STEPS: Step[] = [
  {
    id: "meet",
    title: msg`The cluster`,
    exhibit: "words",
    text: (_, { servers }) =>
      t`All ${servers.length} servers are members of one view: each answers every call, and a write is answered when every member has it on its disk.`,
    done: ALWAYS,
  },
  {
    id: "break",
    title: msg`Lose a member`,
    exhibit: "none",
    text: ({ fault, old, freed }) => {
      if (fault === null)
        return t`Crash any server: click its card and choose Crash, or press its number and then C.`;
      if (freed === null)
        return t`${old} is gone. The others receive nothing from it, but it may be alive and answer clients until its lease has run out. Only then may they continue without it.`;
      return t`The next view has no ${old}, and the others answer again. No acknowledged write is lost, because every member had it.`;
    },
    done: ({ freed }) => freed !== null,
  },
  {
    id: "repair",
    title: msg`Bring it back`,
    exhibit: "none",
    text: ({ old, behind, inStep }) => {
      if (inStep) return t`${old} is a member again, in a view of its own number.`;
      if (behind) return t`${old} is outside the view and asks to join. It catches up first.`;
      return t`Restart ${old}: select its card and press R.`;
    },
    done: ({ inStep }) => inStep,
  },
  {
    id: "end",
    title: msg`You have caused a change of the view`,
    exhibit: "stories",
    text: () =>
      t`Next, draw a loop around two servers and cut them off from the rest. Or go on with a page of its own:`,
    done: ALWAYS,
  },
];
