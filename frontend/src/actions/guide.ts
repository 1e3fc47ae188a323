/** What to try first, told step by step: each step waits for events of the cluster, not for seconds. */

import type { Verb } from "../api/faults";
import type { LabEvent } from "../api/types";
import type { Vocabulary } from "../families/vocabulary";
import { rowOf } from "./verbs";

export interface Guide {
  /** How far the cluster has come. */
  reached: number;
  /** Which step is told: `reached`, or an earlier one after Back. */
  told: number;
  /** The server that was harmed; empty before. */
  old: string;
  /** Who followed it, and in which epoch; of members, the number of the view without it. */
  next: string;
  epoch: number;
}

/** What is known beside the events. */
export interface Scene {
  /** Who leads. */
  leader: string;
  /** Whether it answers. */
  served: boolean;
  /** All servers of the group. */
  servers: readonly string[];
  session_timeout_ms: number;
  /** The name of the group, where there are several. */
  group: string;
  /** The table of faults: which of them unseat a leader. */
  verbs: readonly Verb[];
}

/** A story of one kind of family. */
export interface Script {
  last: number;
  /** The guide after an event. */
  heard: (guide: Guide, event: LabEvent, scene: Scene) => Guide;
  /** What is said at the step that is told. */
  words: (guide: Guide, scene: Scene) => string;
}

export const START: Guide = { reached: 0, told: 0, old: "", next: "", epoch: 0 };

function onwards(guide: Guide, found: Partial<Guide> = {}): Guide {
  const reached = guide.reached + 1;
  const told = guide.told === guide.reached ? reached : guide.told;
  return { ...guide, ...found, reached, told };
}

/** The server among `names` that this event harms; empty for none. */
function harmed(event: LabEvent, names: readonly string[], verbs: readonly Verb[]): string {
  if (event.kind !== "FaultInjected" || !rowOf(verbs, event.verb)?.unseats) return "";
  return names.find((name) => event.targets.includes(name)) ?? "";
}

function isPlaced(event: LabEvent, server: string, state: string): boolean {
  return event.kind === "Placed" && event.of_server === server && event.state === state;
}

/** One server leads: it is crashed, another takes over. */
export function takeoverScript({ leads, follows, behind, election, term, place }: Vocabulary): Script {
  return {
    last: 5,
    heard(guide, event, scene) {
      const { old } = guide;
      switch (guide.reached) {
        case 0: {
          const hit = harmed(event, [scene.leader], scene.verbs);
          return hit === "" ? guide : onwards(guide, { old: hit });
        }
        case 1:
          return event.kind === "LockHeld" && event.owner !== old ? onwards(guide) : guide;
        case 2:
          if (event.kind !== "Serving") return guide;
          return onwards(guide, { next: event.server, epoch: event.epoch });
        case 3:
          if (isPlaced(event, old, follows)) return onwards(onwards(guide));
          return isPlaced(event, old, behind) ? onwards(guide) : guide;
        case 4:
          return isPlaced(event, old, follows) ? onwards(guide) : guide;
        default:
          return guide;
      }
    },
    words(guide, { leader, served, session_timeout_ms, group }) {
      const { old, next, epoch } = guide;
      const wait_s = session_timeout_ms / 1000;
      const calls = leads === "primary" ? "write" : "call";
      if (guide.told === 0 && !served)
        return "Nobody answers now: too few servers are left. Restart those that are stopped.";
      return [
        `${leader || "One server"} is the ${leads}${group && ` of ${group}`}: it answers every ${calls}${group && " there"}. Click its card and crash it.`,
        `${old} is gone, and nobody answers. The others may not act before its session has ended: up to ${wait_s} s.`,
        `The session has ended and its lock is free. ${election}`,
        `${next} answers, in ${term} ${epoch}. Its ${place} goes on from there: nothing acknowledged is lost. Now restart ${old}.`,
        `${old} is back as ${behind}. What it missed is sent to it until it is in step.`,
        `${old} is ${follows} again. Next: drag a server to “Cut off”, or click a link between two servers.`,
      ][guide.told] as string;
    },
  };
}

/** All members of a view serve: one is crashed, the others go on in the next view. */
export const VIEW_SCRIPT: Script = {
  last: 4,
  heard(guide, event, scene) {
    const { old } = guide;
    const view = event.kind === "Configured" ? event : null;
    switch (guide.reached) {
      case 0: {
        const hit = harmed(event, scene.servers, scene.verbs);
        return hit === "" ? guide : onwards(guide, { old: hit });
      }
      case 1:
        return view !== null && !view.members.includes(old)
          ? onwards(guide, { epoch: view.of_number })
          : guide;
      case 2:
        return isPlaced(event, old, "joining") ? onwards(guide) : guide;
      case 3:
        return view?.members.includes(old) ? onwards(guide, { epoch: view.of_number }) : guide;
      default:
        return guide;
    }
  },
  words({ told, old, epoch }, { servers }) {
    return [
      `All ${servers.length} servers are members of one view: each answers every call. Click any card and crash it.`,
      `${old} is gone. The others hear nothing of it; when its lease has run out they agree on a view without it.`,
      `View ${epoch} goes on without ${old}: nothing acknowledged is lost, because every member had it. Now restart ${old}.`,
      `${old} is outside the view and asks to come in. It is sent what it missed.`,
      `${old} is a member again, in view ${epoch}. Next: drag two servers to “Cut off” with a loop drawn around them.`,
    ][told] as string;
  },
};
