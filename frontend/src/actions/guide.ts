/** A tour for the first visit, step by step: each step waits for events of the cluster, not for seconds. */

import type { LabEvent, Verb, Vocabulary } from "../api/schema";
import { rowOf } from "./verbs";

export interface Guide {
  /** Number of the step that the cluster has reached. */
  reached: number;
  /** Number of the step that is shown: `reached`, or an earlier one after Back. */
  reported: number;
  /** The server that was the target of the fault; empty before. */
  old: string;
  /** The server that took over, and its epoch; with members, the number of the view without the target. */
  next: string;
  epoch: number;
}

/** Facts that events do not carry. */
export interface Scene {
  /** The leader. */
  leader: string;
  /** Whether the leader answers. */
  served: boolean;
  /** All servers of the group. */
  servers: readonly string[];
  session_timeout_ms: number;
  /** Name of the group, where there are several. */
  group: string;
  /** The table of faults: it shows which verbs unseat a leader. */
  verbs: readonly Verb[];
}

/** The tour for one kind of family. */
export interface Script {
  last: number;
  /** The state of the tour after an event. */
  received: (guide: Guide, event: LabEvent, scene: Scene) => Guide;
  /** Text of the step that is shown. */
  words: (guide: Guide, scene: Scene) => string;
}

export const START: Guide = { reached: 0, reported: 0, old: "", next: "", epoch: 0 };

function onwards(guide: Guide, found: Partial<Guide> = {}): Guide {
  const reached = guide.reached + 1;
  const reported = guide.reported === guide.reached ? reached : guide.reported;
  return { ...guide, ...found, reached, reported };
}

/** The server among `names` that is the target of this event's fault; empty for none. */
function harmed(event: LabEvent, names: readonly string[], verbs: readonly Verb[]): string {
  if (event.kind !== "FaultInjected" || !rowOf(verbs, event.verb)?.unseats) return "";
  return names.find((name) => event.targets.includes(name)) ?? "";
}

function isPlaced(event: LabEvent, server: string, state: string): boolean {
  return event.kind === "Placed" && event.of_server === server && event.state === state;
}

/** Tour for families with a leader: it is crashed, another server takes over. */
export function takeoverScript({ leads, follows, behind, election, term, place }: Vocabulary): Script {
  return {
    last: 5,
    received(guide, event, scene) {
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
      if (guide.reported === 0 && !served)
        return "No server answers now: too few are left. Restart the stopped ones.";
      return [
        `${leader || "One server"} is the ${leads}${group && ` of ${group}`}: it answers every ${calls}${group && " there"}. Click its card and crash it.`,
        `${old} is gone, and no server answers. The others may not act before its session ends: up to ${wait_s} s.`,
        `The session has ended and its lock is free. ${election}`,
        `${next} answers, in ${term} ${epoch}. Its ${place} continues from there: no acknowledged write is lost. Now restart ${old}.`,
        `${old} is back as ${behind}. It catches up until it is in step.`,
        `${old} is ${follows} again. Next: drag a server to “Cut off”, or click a link between two servers.`,
      ][guide.reported] as string;
    },
  };
}

/** Tour for families with members: one is crashed, the others continue in the next view. */
export const VIEW_SCRIPT: Script = {
  last: 4,
  received(guide, event, scene) {
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
  words({ reported, old, epoch }, { servers }) {
    return [
      `All ${servers.length} servers are members of one view: each answers every call. Click any card and crash it.`,
      `${old} is gone. The others receive nothing from it; when its lease has run out, they agree on a view without it.`,
      `View ${epoch} continues without ${old}: no acknowledged write is lost, because every member had it. Now restart ${old}.`,
      `${old} is outside the view and asks to join. It catches up first.`,
      `${old} is a member again, in view ${epoch}. Next: drag two servers to “Cut off” with a loop drawn around them.`,
    ][reported] as string;
  },
};
