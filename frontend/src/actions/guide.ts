/** What to try first, told step by step: each step waits for events of the cluster, not for seconds. */

import type { LabEvent } from "../api/types";

export interface Guide {
  /** How far the cluster has come. */
  reached: number;
  /** Which step is told: `reached`, or an earlier one after Back. */
  told: number;
  /** The active that was harmed; empty before. */
  old: string;
  /** Who followed it, and in which epoch. */
  next: string;
  epoch: number;
}

export const START: Guide = { reached: 0, told: 0, old: "", next: "", epoch: 0 };
export const LAST = 5;

const HARMS = new Set(["crash", "stop", "pause", "cut", "take_lock", "expire_session"]);

function onwards(guide: Guide, found: Partial<Guide> = {}): Guide {
  const reached = guide.reached + 1;
  const told = guide.told === guide.reached ? reached : guide.told;
  return { ...guide, ...found, reached, told };
}

/** The guide after an event; `active` is who served before it. */
export function heard(guide: Guide, event: LabEvent, active: string): Guide {
  switch (guide.reached) {
    case 0: {
      const hit = event.kind === "FaultInjected" && HARMS.has(event.verb) && event.targets.includes(active);
      return hit ? onwards(guide, { old: active }) : guide;
    }
    case 1:
      return event.kind === "LockHeld" && event.owner !== guide.old ? onwards(guide) : guide;
    case 2:
      return event.kind === "Serving" ? onwards(guide, { next: event.server, epoch: event.epoch }) : guide;
    case 3:
      return isPlaced(event, guide.old, "junior") ? onwards(guide) : guide;
    case 4:
      return isPlaced(event, guide.old, "standby") ? onwards(guide) : guide;
    default:
      return guide;
  }
}

function isPlaced(event: LabEvent, server: string, state: string): boolean {
  return event.kind === "Placed" && event.of_server === server && event.state === state;
}

/** What is said at a step; `active` is who serves now, `group` the name of its group where there are several. */
export function words(guide: Guide, active: string, session_timeout_ms: number, group = ""): string {
  const { old, next, epoch } = guide;
  const wait_s = session_timeout_ms / 1000;
  return [
    `${active || "One server"} is the active${group && ` of ${group}`}: it answers every call${group && " there"}. Click its card and crash it.`,
    `${old} is gone, and nobody answers. The others may not act before its session has ended: up to ${wait_s} s.`,
    "The session has ended and its lock is free. Each standby drew a number; the largest one takes the lock.",
    `${next} answers, in epoch ${epoch}. Its sn goes on from there: nothing acknowledged is lost. Now restart ${old}.`,
    `${old} is back as a junior. What it missed is sent to it until it is in step.`,
    `${old} is a standby again. Next: drag a server to “Cut off”, or click a link between two servers.`,
  ][guide.told] as string;
}
