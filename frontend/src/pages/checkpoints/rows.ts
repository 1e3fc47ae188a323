/** Rows of checkpoints and markings; pure. */

import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import type { Checkpoint, CheckpointStory, Marking, MarkingPart, Recovery } from "../../api/schema";
import { count } from "../../store/time";
import { formatBytes } from "../../ui/bytes";

export interface CheckpointRow {
  name: string;
  /** `marking` while undecided. */
  state: Checkpoint["state"] | "marking";
  /** The groups' agreed time in ms since 1970; null without agreement. */
  time_ms: number | null;
  /** Barrier by group; null where no barrier counts. */
  barriers: Record<string, number | null>;
  /** Reason why it is void, or that it is quarantined. */
  reason: string;
}

const NS_PER_MS = 1e6;

/** Checkpoints, the newest first; one that is being marked comes before all others. */
export function rowsOf(checkpoints: readonly Checkpoint[], story: CheckpointStory): CheckpointRow[] {
  const known = new Set(checkpoints.map(({ name }) => name));
  const reasons = new Map(story.markings.map(({ name, reason }) => [name, reason]));
  const pending = story.markings
    .filter(({ name, outcome, began_ns }) => outcome === "" && began_ns > 0 && !known.has(name))
    .map((marking): CheckpointRow => {
      const barriers = Object.entries(marking.groups).map(([group, { sn }]) => [group, sn || null] as const);
      return {
        name: marking.name,
        state: "marking",
        time_ms: null,
        barriers: Object.fromEntries(barriers),
        reason: "",
      };
    });
  const decided = checkpoints.map((each): CheckpointRow => {
    const barriers = Object.entries(each.barriers).map(([group, { sn }]) => [group, sn] as const);
    return {
      name: each.name,
      state: each.state,
      time_ms: each.stamp_ns > 0 ? each.stamp_ns / NS_PER_MS : null,
      barriers: each.state === "void" ? {} : Object.fromEntries(barriers),
      reason: reasonOf(each, reasons.get(each.name) ?? ""),
    };
  });
  return [...pending.reverse(), ...decided.reverse()];
}

function reasonOf({ state }: Checkpoint, reported: string): string {
  if (state === "void") return reported || t`the reason was not kept`;
  return state === "aside" ? t`a recovery restored an earlier one` : "";
}

/** Steps of a marking in order, with their labels. */
export const STEPS: { field: keyof Omit<MarkingPart, "sn">; label: MessageDescriptor }[] = [
  { field: "drain_ns", label: msg`drain` },
  { field: "drained_ns", label: msg`drained` },
  { field: "written_ns", label: msg`written` },
  { field: "resumed_ns", label: msg`resumed` },
];

/** The newest marking; null before the first one. */
export function newestOf({ markings }: CheckpointStory): Marking | null {
  return markings.reduce<Marking | null>(
    (best, each) => (best === null || each.began_ns >= best.began_ns ? each : best),
    null,
  );
}

/** Milliseconds from the start of the marking to a step; null for a step that was not reached. */
export function reachedMs(began_ns: number, at_ns: number): number | null {
  return at_ns === 0 ? null : Math.max(0, at_ns - began_ns) / NS_PER_MS;
}

/** Longest time in ms in which a group took no requests; null while a group has not resumed. */
export function pauseMs({ groups }: Marking): number | null {
  const pauses = Object.values(groups)
    .filter(({ drain_ns }) => drain_ns > 0)
    .map(({ drain_ns, resumed_ns }) => reachedMs(drain_ns, resumed_ns));
  if (pauses.length === 0) return null;
  return pauses.reduce<number | null>(
    (most, each) => (most === null || each === null ? null : Math.max(most, each)),
    0,
  );
}

export interface AsideRow {
  server: string;
  group: string;
  groups: number;
  operations: number;
  /** Sn of the barrier; null when the server did not have it and began anew. */
  sn: number | null;
}

/** Data that each server quarantined in a recovery, group by group. */
export function asideRows({ servers }: Recovery): AsideRow[] {
  return Object.entries(servers)
    .map(([server, { group, groups, operations, sn }]) => ({
      server,
      group,
      groups,
      operations,
      sn: sn || null,
    }))
    .sort((a, b) => (a.group + a.server < b.group + b.server ? -1 : 1));
}

/** Data that data nodes quarantined in a recovery, one sentence for each. */
export function asideBlocks({ data_nodes }: Recovery): string {
  return Object.entries(data_nodes)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([node, { blocks, size }]) => t`${node}: ${count(blocks)} blocks, ${formatBytes(size)}.`)
    .join(" ");
}

/** Reason why a name is invalid; empty for a valid name. */
export function wrongName(name: string, taken: readonly string[]): string {
  if (!/^[A-Za-z0-9._-]{1,63}$/.test(name)) return t`1 to 63 letters, digits, dots, dashes and underscores`;
  return taken.includes(name) ? t`There is a checkpoint ${name}; a name is given once` : "";
}
