/** The logical volume as rows and cells, from the API's responses; pure. */

import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import type { Pool, PoolImage, Replica } from "../../api/schema";
import { count } from "../../store/time";
import { formatBytes } from "../../ui/bytes";
import type { Tone } from "../../ui/Sign";

export const JOURNAL = "journal";

/** `whole`: reported by the node and not compared yet; `unknown`: the node has not reported. */
export type CellState = Replica["state"] | "faulted" | "whole" | "absent" | "unknown";

/** One file of an image: a partition by its number, or the manifest. */
export interface Part {
  name: string;
  state: CellState;
  replica: Replica | null;
}

export interface Cell {
  state: CellState;
  /** The state in a few words. */
  words: string;
  /** Files of an image; empty for a journal. */
  parts: Part[];
  /** Repaired share; null without a repair. */
  share: number | null;
}

export interface Row {
  /** `journal`, or the name of an image. */
  id: string;
  image: PoolImage | null;
  /** Whether it is the newest image, which is the target of a fault. */
  newest: boolean;
  cells: Record<string, Cell>;
}

export const SIGN: Record<CellState, string> = {
  agrees: "✓",
  whole: "✓",
  repaired: "✓",
  behind: "◔",
  repairing: "↻",
  damaged: "✕",
  disputed: "?",
  faulted: "✕",
  absent: "–",
  unknown: "·",
};

export const TONE: Record<CellState, Tone> = {
  agrees: "held",
  whole: "mended",
  repaired: "mended",
  behind: "waiting",
  repairing: "waiting",
  damaged: "broken",
  disputed: "broken",
  faulted: "broken",
  absent: "none",
  unknown: "none",
};

export const MEANING: Record<CellState, MessageDescriptor> = {
  agrees: msg`believed: equal to the others`,
  whole: msg`whole, not compared yet`,
  repaired: msg`believed again after repair`,
  behind: msg`ends earlier than another`,
  repairing: msg`being repaired`,
  damaged: msg`damaged: not used`,
  disputed: msg`differs, and the correct replica is unknown`,
  faulted: msg`damaged by a fault, and not noticed yet`,
  absent: msg`not here`,
  unknown: msg`not reported yet`,
};

/** The journal first, then the images, the newest first. */
export function rowsOf(pool: Pool): Row[] {
  const nodes = Object.keys(pool.nodes);
  const images = Object.values(pool.images).sort((a, b) => (a.name < b.name ? 1 : -1));
  const cellsOf = (cell: (node: string) => Cell): Record<string, Cell> =>
    Object.fromEntries(nodes.map((node) => [node, cell(node)]));
  return [
    { id: JOURNAL, image: null, newest: false, cells: cellsOf((node) => journalCell(pool, node)) },
    ...images.map((image, index) => ({
      id: image.name,
      image,
      newest: index === 0,
      cells: cellsOf((node) => imageCell(pool, image, node, index === 0)),
    })),
  ];
}

function journalCell(pool: Pool, node: string): Cell {
  const replica = pool.files[JOURNAL]?.[node];
  const faulted = pool.nodes[node]?.faulted === JOURNAL;
  const rest = { parts: [], share: null };
  if (faulted) return { state: "faulted", words: t`damaged, not noticed`, ...rest };
  if (replica === undefined) return { ...absent(pool, node), ...rest };
  const words: Partial<Record<CellState, string>> = {
    agrees: t`believed`,
    behind: replica.behind_by > 0 ? t`${count(replica.behind_by)} behind` : t`behind`,
    damaged: t`damaged`,
    disputed: t`differs`,
  };
  return { state: replica.state, words: words[replica.state] ?? replica.state, ...rest };
}

function absent(pool: Pool, node: string): { state: CellState; words: string } {
  const reported = (pool.nodes[node]?.reported_ns ?? 0) > 0;
  return reported
    ? { state: "absent", words: t`not here` }
    : { state: "unknown", words: t`not reported yet` };
}

/** "p03" of "image/…-829ec90c.p03". */
function partName(file: string): string {
  return file.slice(file.lastIndexOf(".") + 1);
}

/** Partitions by number, the manifest last. */
function partsOf(pool: Pool, image: string, node: string): Part[] {
  return Object.keys(pool.files)
    .filter((file) => file.startsWith(`image/${image}.`))
    .sort(
      (a, b) => Number(partName(a) === "manifest") - Number(partName(b) === "manifest") || (a < b ? -1 : 1),
    )
    .map((file) => {
      const replica = pool.files[file]?.[node] ?? null;
      return { name: partName(file), state: replica?.state ?? "absent", replica };
    });
}

function imageCell(pool: Pool, image: PoolImage, node: string, newest: boolean): Cell {
  const parts = partsOf(pool, image.name, node);
  const held = parts.filter(({ replica }) => replica !== null);
  const of = (state: CellState): Part | undefined => held.find((part) => part.state === state);
  const refused = image.refused[node];
  if (newest && pool.nodes[node]?.faulted === "image")
    return { state: "faulted", words: t`damaged, not noticed`, parts, share: null };
  const repairing = of("repairing");
  if (repairing?.replica) {
    const { offset, size } = repairing.replica;
    const words = t`${repairing.name}: ${formatBytes(offset)} of ${formatBytes(size)}`;
    return { state: "repairing", words, parts, share: size > 0 ? offset / size : 0 };
  }
  const damaged = of("damaged");
  if (damaged !== undefined) return { state: "damaged", words: damagedWords(damaged), parts, share: null };
  if (refused !== undefined) return { state: "damaged", words: t`damaged`, parts, share: null };
  if (of("disputed")) return { state: "disputed", words: t`differs`, parts, share: null };
  if (held.length === 0 && image.whole.includes(node))
    return { state: "whole", words: t`whole`, parts: [], share: null };
  if (held.length === 0) return { ...absent(pool, node), parts: [], share: null };
  if (of("repaired")) return { state: "repaired", words: t`repaired`, parts, share: null };
  return image.whole.includes(node)
    ? { state: "agrees", words: t`believed`, parts, share: null }
    : { state: "whole", words: t`not complete`, parts, share: null };
}

function damagedWords({ name, replica }: Part): string {
  if (replica === null || replica.size === 0) return t`${name} missing`;
  return replica.valid < replica.size ? t`${name} bad at ${count(replica.valid)}` : t`${name} damaged`;
}

/** The cell that an arrow key moves to; the same one at the border. */
export function besides(
  rows: readonly string[],
  nodes: readonly string[],
  at: { row: string; node: string },
  key: string,
): { row: string; node: string } {
  const [y, x] = [Math.max(0, rows.indexOf(at.row)), Math.max(0, nodes.indexOf(at.node))];
  const within = (value: number, length: number): number => Math.min(Math.max(0, value), length - 1);
  const to: Record<string, [number, number]> = {
    ArrowUp: [y - 1, x],
    ArrowDown: [y + 1, x],
    ArrowLeft: [y, x - 1],
    ArrowRight: [y, x + 1],
    Home: [y, 0],
    End: [y, nodes.length - 1],
  };
  const [row, column] = to[key] ?? [y, x];
  return {
    row: rows[within(row, rows.length)] ?? at.row,
    node: nodes[within(column, nodes.length)] ?? at.node,
  };
}

/** Parses "g1/mds1/journal" to a cell, and back. */
export function spotOf(group: string, node: string, row: string): string {
  return `${group}/${node}/${row}`;
}

export function cellAt(spot: string): { group: string; node: string; row: string } | null {
  const [group, node, row] = spot.split("/");
  return group && node && row ? { group, node, row } : null;
}

/** "just now", "12 s ago", "3 min ago", "2 h ago". */
export function agoWords(seconds: number): string {
  if (seconds < 2) return t`just now`;
  if (seconds < 100) return t`${Math.round(seconds)} s ago`;
  return seconds < 6000 ? t`${Math.round(seconds / 60)} min ago` : t`${Math.round(seconds / 3600)} h ago`;
}
