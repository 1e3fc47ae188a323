/** Roles of all families in the global view: shape, colour and meaning. */

import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { LETTERS, type Letter, type Role, type Server } from "../api/schema";

/** Name of a set of colours: `--active`, `--active-wash`, `--on-active`. */
export type Tone = "active" | "standby" | "junior" | "down";
export type Shape = "ring" | "hexagon" | "square" | "triangle" | "hollow";

export interface RoleWords {
  shape: Shape;
  tone: Tone;
  /** Task of a server with this role. */
  says: MessageDescriptor;
}

export const ROLES: Record<Role, RoleWords> = {
  active: {
    shape: "ring",
    tone: "active",
    says: msg`answers every call of its group`,
  },
  standby: {
    shape: "square",
    tone: "standby",
    says: msg`has the same journal and waits to take over`,
  },
  junior: {
    shape: "triangle",
    tone: "junior",
    says: msg`lacks a part of the journal and catches up; it cannot take over`,
  },
  primary: {
    shape: "ring",
    tone: "active",
    says: msg`gives every write its slot and answers it`,
  },
  secondary: {
    shape: "square",
    tone: "standby",
    says: msg`accepts the primary's proposals and serves reads`,
  },
  member: {
    shape: "hexagon",
    tone: "active",
    says: msg`is in the view: it answers reads and writes like every other member`,
  },
  joining: {
    shape: "triangle",
    tone: "junior",
    says: msg`is outside the view, serves no client, and asks to join`,
  },
  down: {
    shape: "hollow",
    tone: "down",
    says: msg`has no role in the global view`,
  },
};

const LEADING: readonly Role[] = ["active", "primary"];

/** Whether the server is the one of its group that orders the writes. */
export function leads(role: Role): boolean {
  return LEADING.includes(role);
}

/** The role to show: the view may leave out a member that the table of places still names. */
export function shownRole(
  { name, role, process }: Pick<Server, "name" | "role" | "process">,
  members: readonly string[],
): Role {
  if (role !== "member" || members.includes(name)) return role;
  return process === "stopped" ? "down" : "joining";
}

/** Whether the server answers calls of its group: it leads, reports so itself, runs, and its session is confirmed. */
export function serves({
  believes,
  process,
  fenced,
}: Pick<Server, "believes" | "process" | "fenced">): boolean {
  return process === "running" && !fenced && leads(believes as Role);
}

/** Whether the server can serve no longer, although the lock may still be its own. */
export function isLost({ process, fenced }: Pick<Server, "process" | "fenced">): boolean {
  return process === "stopped" || fenced;
}

const TONES = new Map(Object.entries(ROLES).map(([role, { tone }]) => [LETTERS[role as Role], tone]));

/** The colours of a letter; roles that share a letter share them. */
export function toneOf(letter: Letter): Tone {
  return TONES.get(letter) ?? "down";
}
