/** Positions of the journal groups on the canvas; pure. */

import type { CellState, Journals } from "../../api/schema";
import type { Size } from "../../draw/useCanvas";

export interface Cells {
  server: string;
  y: number;
  height: number;
  runs: { x: number; width: number; state: CellState; epoch: number; from_sn: number; to_sn: number }[];
}

export interface Geometry {
  left: number;
  cell: number;
  from_sn: number;
  to_sn: number;
  rows: Cells[];
  epochs: { x: number; width: number; epoch: number }[];
  commit_x: number | null;
  ticks: { x: number; sn: number }[];
  /** Columns of barriers, with the names of their checkpoints. */
  barriers: { x: number; width: number; name: string }[];
  height: number;
  /** The server and sn under a point; null beside the rows. */
  at: (x: number, y: number) => { server: string; sn: number } | null;
  box: (server: string, sn: number) => { x: number; y: number; width: number; height: number } | null;
}

const LEFT = 4.2;
const TOP = 1.5;
const ROW = 1.9;
/** Largest height of a row. */
const ROW_MOST = 3.8;
const BOTTOM = 1.5;

/** Number of blocks that are about as high as the timeline beside them; with more groups a person chooses one. */
const STACKED_MOST = 4;

/** The groups whose blocks are shown: all when they are few, else the chosen one. */
export function blocksOf(groups: readonly string[], chosen: string | null): string[] {
  if (groups.length <= STACKED_MOST) return [...groups];
  const known = groups.find((name) => name === chosen) ?? groups[0];
  return known === undefined ? [] : [known];
}

/** Least and greatest height of the rows, in rem. */
export function heightOf(servers: number): { least: number; most: number } {
  return { least: TOP + ROW * servers + BOTTOM, most: TOP + ROW_MOST * servers + BOTTOM };
}

/** Height of a row in rem, for a height of the canvas. */
function rowOf(servers: number, height: number, rem: number): number {
  const room = (height / rem - TOP - BOTTOM) / Math.max(1, servers);
  return Math.max(ROW, Math.min(room, ROW_MOST));
}

/** Number of columns that fit, each `cell_rem` wide. */
export function columnsOf(width: number, rem: number, cell_rem: number): number {
  return Math.max(4, Math.min(2000, Math.floor((width - LEFT * rem) / (cell_rem * rem))));
}

/** Steps of 1, 2 or 5 times a power of ten that give about `wanted` ticks. */
export function tickStep(columns: number, wanted: number): number {
  const rough = Math.max(1, columns / Math.max(1, wanted));
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5, 10].find((step) => step * power >= rough) ?? 10) * power;
}

export function layout(
  data: Journals,
  [from_sn, to_sn]: readonly [number, number],
  { width, height, rem }: Size,
): Geometry {
  const row = rowOf(data.servers.length, height, rem);
  const left = LEFT * rem;
  const columns = Math.max(1, to_sn - from_sn + 1);
  const cell = Math.max(1, (width - left) / columns);
  const x = (sn: number): number => left + (sn - from_sn) * cell;
  const rows = data.servers.map(({ name, cells }, index) => ({
    server: name,
    y: (TOP + index * row) * rem,
    height: (row - 0.45) * rem,
    runs: cells
      .filter(([first, last]) => last >= from_sn && first <= to_sn)
      .map(([first, last, epoch, state]) => {
        const [begin, end] = [Math.max(first, from_sn), Math.min(last, to_sn)];
        return { x: x(begin), width: (end - begin + 1) * cell, state, epoch, from_sn: begin, to_sn: end };
      }),
  }));
  const step = tickStep(columns, (width - left) / (5 * rem));
  const first = Math.ceil(from_sn / step) * step;
  const ticks = [];
  for (let sn = first; sn <= to_sn; sn += step) ticks.push({ x: x(sn) + cell / 2, sn });
  const bottom = (TOP + data.servers.length * row) * rem;
  const committed = data.commit_sn >= from_sn && data.commit_sn <= to_sn;
  return {
    left,
    cell,
    from_sn,
    to_sn,
    rows,
    epochs: epochBands(rows),
    commit_x: committed ? x(data.commit_sn + 1) : null,
    ticks,
    barriers: data.barriers
      .filter(([sn]) => sn >= from_sn && sn <= to_sn)
      .map(([sn, name]) => ({ x: x(sn), width: cell, name })),
    height: bottom,
    at: (px, py) => {
      const under = rows.find(({ y, height }) => py >= y && py < y + height);
      const sn = Math.floor((px - left) / cell) + from_sn;
      return under === undefined || px < left || sn > to_sn ? null : { server: under.server, sn };
    },
    box: (server, sn) => {
      const of = rows.find((each) => each.server === server);
      if (of === undefined || sn < from_sn || sn > to_sn) return null;
      return { x: x(sn), y: of.y, width: cell, height: of.height };
    },
  };
}

/** Epoch of each span, from the longest journal. */
function epochBands(rows: Cells[]): Geometry["epochs"] {
  const longest = rows.reduce<Cells | null>((best, row) => {
    const reach = (cells: Cells): number =>
      cells.runs.filter(({ state }) => state !== "x").at(-1)?.to_sn ?? 0;
    return best === null || reach(row) > reach(best) ? row : best;
  }, null);
  const bands: Geometry["epochs"] = [];
  for (const run of longest?.runs ?? []) {
    if (run.state === "x" || run.epoch === 0) continue;
    const last = bands.at(-1);
    if (last !== undefined && last.epoch === run.epoch) last.width = run.x + run.width - last.x;
    else bands.push({ x: run.x, width: run.width, epoch: run.epoch });
  }
  return bands;
}
