/** Positions of nodes under the servers, and the links to them; pure. */

import type { Box, Curve, Geometry, LinkShape, NodeKind, Scene } from "./layout";

const NODE = { least: 8, most: 14, height: 4.3 };
const GAP_REM = 1;
const SIGN_REM = 2.9;

export interface NodeLane {
  lane: Box;
  boxes: Record<string, Box>;
}

/** Nodes of one kind side by side under the lanes, in as many rows as they need. */
export function nodeLane(names: readonly string[], place: Omit<Box, "height">, rem: number): NodeLane {
  const gap = GAP_REM * rem;
  const inside = place.width - 2 * gap;
  const perRow = Math.max(1, Math.min(names.length, Math.floor((inside + gap) / (NODE.least * rem + gap))));
  const width = Math.min(NODE.most * rem, (inside - gap * (perRow - 1)) / perRow);
  const [height, pitch] = [NODE.height * rem, (NODE.height + 0.7) * rem];
  const boxes: Record<string, Box> = {};
  names.forEach((name, index) => {
    const row = Math.floor(index / perRow);
    const inRow = Math.min(perRow, names.length - row * perRow);
    const left = place.x + (place.width - inRow * width - (inRow - 1) * gap) / 2;
    boxes[name] = {
      x: left + (index % perRow) * (width + gap),
      y: place.y + gap + row * pitch,
      width,
      height,
    };
  });
  const rows = Math.ceil(names.length / perRow);
  const tall = gap + rows * pitch - 0.7 * rem + SIGN_REM * rem;
  return { lane: { ...place, height: tall }, boxes };
}

/** Links to the nodes of one kind, from all servers or from actives and clients, and from each node to the next. */
export function waysTo(
  { linked, names }: NodeKind,
  geometry: Geometry,
  { groups, clients, adrift }: Scene,
  rem: number,
): LinkShape[] {
  const senders =
    linked === "servers"
      ? groups.flatMap(({ servers }) => servers)
      : [...groups.flatMap(({ active = "" }) => active), ...clients];
  const ashore = senders.filter((name) => !adrift.has(name));
  return [...down(geometry, ashore, names, rem), ...along(geometry, names, rem)];
}

function down(
  geometry: Geometry,
  above: readonly string[],
  nodes: readonly string[],
  rem: number,
): LinkShape[] {
  return above.flatMap((a) => {
    const from = geometry.cards[a] ?? geometry.clients[a];
    if (from === undefined) return [];
    return nodes.map((b) => ({ a, b, curve: fall(from, geometry.nodes[b] as Box, rem) }));
  });
}

function along(geometry: Geometry, nodes: readonly string[], rem: number): LinkShape[] {
  return nodes.slice(1).map((b, index) => {
    const a = nodes[index] as string;
    return { a, b, curve: beside(geometry.nodes[a] as Box, geometry.nodes[b] as Box, rem) };
  });
}

function fall(from: Box, to: Box, rem: number): Curve {
  const start = { x: from.x + from.width * 0.5, y: from.y + from.height };
  const end = { x: to.x + to.width * 0.5, y: to.y };
  const reach = Math.max(1.5 * rem, (end.y - start.y) * 0.4);
  return [start, { x: start.x, y: start.y + reach }, { x: end.x, y: end.y - reach }, end];
}

/** Neighbours are joined from side to side, nodes of two rows from bottom to top. */
function beside(from: Box, to: Box, rem: number): Curve {
  if (Math.abs(from.y - to.y) > 1) return fall(from, to, rem);
  const start = { x: from.x + from.width, y: from.y + from.height / 2 };
  const end = { x: to.x, y: to.y + to.height / 2 };
  const third = (end.x - start.x) / 3;
  return [start, { x: start.x + third, y: start.y }, { x: end.x - third, y: end.y }, end];
}
