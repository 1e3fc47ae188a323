/** Positions in the topology: pure geometry in pixels, from names and the available size. */

import type { Lane } from "../../api/schema";
import type { Shifts } from "../../store/places";
import { nodeLane, waysTo } from "./layoutNodes";

export interface Point {
  x: number;
  y: number;
}

export interface Box extends Point {
  width: number;
  height: number;
}

/** A cubic curve from one end of a link to the other. */
export type Curve = readonly [Point, Point, Point, Point];

export interface LinkShape {
  a: string;
  b: string;
  curve: Curve;
}

/** The nodes of one kind. */
export interface NodeKind extends Pick<Lane, "kind" | "linked"> {
  names: readonly string[];
}

export interface Scene {
  groups: { name: string; servers: string[]; active?: string }[];
  clients: string[];
  /** Servers without any connection, which are on the island. */
  adrift: ReadonlySet<string>;
  /** Number of coordination servers that are shown one by one. */
  ensemble?: number;
  nodes?: readonly NodeKind[];
  /** Where a person has moved cards, in rem from their places. */
  shifts?: Shifts;
}

export interface Geometry {
  height: number;
  narrow: boolean;
  compact: boolean;
  coordination: Box;
  clients: Record<string, Box>;
  /** Space for text beside coordination; empty in a narrow area. */
  story: Box;
  lanes: { name: string; box: Box }[];
  island: Box;
  cards: Record<string, Box>;
  /** Number of servers on the island. */
  adrift: number;
  links: LinkShape[];
  /** Links between the actives of different groups. */
  bridges: LinkShape[];
  nodes: Record<string, Box>;
  /** Area of each kind of node. */
  nodeLanes: Record<string, Box>;
  /** Links from servers to nodes. */
  nodeLinks: LinkShape[];
  /** Links from clients to nodes, which are drawn only while a fault affects them. */
  ways: LinkShape[];
}

export const COORDINATION = "coordination";

const NARROW_REM = 46;
const ARC_REM = 1.2;
/** Additional depth of an arc for each server that it passes; small cards leave less room between rows. */
const ARC_STEP_REM = { full: 1.35, compact: 0.5 };
const LANE_TOP_REM = 1.1;
/** Height of the line with a group's counters under its lane, where there are several groups. */
const COUNTED_REM = 1.4;
/** Additional height of a lane's label where its lines break. */
const NARROW_SIGN_REM = 2.4;
/** Width of a lane below which its label may need two lines, and the room for both below the cards. */
const SIGN = { whole: 42, twoLines: 3.9 };
const CARD = { least: 9.2, most: 17, height: 12 };
const SMALL_CARD = { least: 6.6, most: 9.2, height: 6.9 };

interface Frame {
  rem: number;
  width: number;
  narrow: boolean;
  laneLeft: number;
  laneWidth: number;
  islandWidth: number;
  laneTop: number;
  ensemble: number;
}

export function layout(scene: Scene, width: number, rem: number): Geometry {
  const frame = frameOf(width, rem, scene.ensemble ?? 0);
  const { narrow, laneLeft, laneWidth } = frame;
  const sizes = cardSizes(scene, laneWidth, rem);
  const geometry: Geometry = {
    height: 0,
    narrow,
    compact: sizes.compact,
    coordination: coordinationBox(frame),
    clients: {},
    story: storyBox(frame),
    lanes: [],
    island: { x: 0, y: 0, width: 0, height: 0 },
    cards: {},
    adrift: scene.adrift.size,
    links: [],
    bridges: [],
    nodes: {},
    nodeLanes: {},
    nodeLinks: [],
    ways: [],
  };
  let top = frame.laneTop;
  const counted = (scene.groups.length > 1 ? COUNTED_REM : 0) * rem + (narrow ? NARROW_SIGN_REM * rem : 0);
  for (const { name, servers } of scene.groups) {
    const height = placeLane(geometry, frame, sizes, top, servers) + counted;
    geometry.lanes.push({ name, box: { x: laneLeft, y: top, width: laneWidth, height } });
    top += height + rem;
  }
  const kinds = (scene.nodes ?? []).filter(({ names }) => names.length > 0);
  for (const { kind, names } of kinds) {
    const { lane, boxes } = nodeLane(names, { x: laneLeft, y: top, width: laneWidth }, rem);
    Object.assign(geometry.nodes, boxes);
    geometry.nodeLanes[kind] = lane;
    top += lane.height + rem;
  }
  placeIsland(geometry, frame, sizes, scene, top - rem);
  placeClients(geometry, frame, scene.clients);
  applyShifts(geometry, frame, scene, top - rem);
  geometry.links = allLinks(geometry, scene, rem);
  geometry.bridges = allBridges(geometry, scene, rem);
  const ways = (linked: Lane["linked"]) =>
    kinds.filter((each) => each.linked === linked).flatMap((each) => waysTo(each, geometry, scene, rem));
  geometry.nodeLinks = ways("servers");
  geometry.ways = ways("clients");
  const lowest = Math.max(top - rem, geometry.island.y + geometry.island.height);
  geometry.height = lowest + 0.5 * rem;
  return geometry;
}

function frameOf(width: number, rem: number, ensemble: number): Frame {
  const narrow = width < NARROW_REM * rem;
  const clientWidth = narrow ? 0 : 9.5 * rem;
  const islandWidth = narrow ? 0 : 11.5 * rem;
  const laneWidth = width - clientWidth - islandWidth - (narrow ? 0 : 3 * rem);
  const laneLeft = clientWidth + (narrow ? 0 : 2 * rem);
  const laneTop = ((narrow ? 7.2 : 6.2) + (ensemble > 0 ? 1.6 : 0)) * rem;
  return { rem, width, narrow, laneLeft, laneWidth, islandWidth, laneTop, ensemble };
}

interface Sizes {
  compact: boolean;
  perRow: number;
  card: { width: number; height: number };
  gap: number;
}

function cardSizes(scene: Scene, laneWidth: number, rem: number): Sizes {
  const most = Math.max(1, ...scene.groups.map(({ servers }) => servers.length));
  const gap = 1.25 * rem;
  const inside = laneWidth - 2.5 * rem;
  const fits = (least: number) => Math.max(1, Math.floor((inside + gap) / (least * rem + gap)));
  const compact = fits(CARD.least) < Math.min(most, 4) || most > 2 * fits(CARD.least);
  const kind = compact ? SMALL_CARD : CARD;
  const perRow = Math.min(most, fits(kind.least));
  const width = Math.min(kind.most * rem, (inside - gap * (perRow - 1)) / perRow);
  return { compact, perRow, gap, card: { width, height: kind.height * rem } };
}

function coordinationBox({ narrow, laneLeft, laneWidth, width, rem, ensemble }: Frame): Box {
  const wanted = narrow ? Math.max(10.5, 3.4 * ensemble + 1) : Math.max(15, 7.2 * ensemble + 1.4);
  const boxWidth = Math.min(wanted * rem, narrow ? width - 9.5 * rem : laneWidth);
  const x = narrow ? width - boxWidth : laneLeft + (laneWidth - boxWidth) / 2;
  return { x, y: 0.25 * rem, width: boxWidth, height: (ensemble > 0 ? 5 : 3.4) * rem };
}

function storyBox(frame: Frame): Box {
  const { x, y, width } = coordinationBox(frame);
  const left = x + width + 1.5 * frame.rem;
  return { x: left, y, width: Math.max(0, frame.width - left), height: frame.laneTop - 0.6 * frame.rem };
}

/** Places the cards of a group, row by row; returns the lane's height. */
function placeLane(geometry: Geometry, frame: Frame, sizes: Sizes, top: number, servers: string[]): number {
  const { rem, laneLeft, laneWidth, narrow } = frame;
  const { card, gap, perRow } = sizes;
  const rows = Math.max(1, Math.ceil(servers.length / perRow));
  const arcs = arcsRem(servers.length - (rows - 1) * perRow, sizes.compact) * rem;
  const pitch = card.height + (rows > 1 ? 2.6 * rem : 0);
  servers.forEach((name, index) => {
    const row = Math.floor(index / perRow);
    const inRow = Math.min(perRow, servers.length - row * perRow);
    const rowWidth = inRow * card.width + (inRow - 1) * gap;
    const x = laneLeft + (laneWidth - rowWidth) / 2 + (index % perRow) * (card.width + gap);
    geometry.cards[name] = { x, y: top + LANE_TOP_REM * rem + row * pitch, ...card };
  });
  const sign = !narrow && laneWidth < SIGN.whole * rem ? SIGN.twoLines * rem : 0;
  return LANE_TOP_REM * rem + (rows - 1) * pitch + card.height + Math.max(arcs + 1.9 * rem, sign);
}

/** Depth of a row's arcs; a cubic reaches three quarters of its control points' depth. */
function arcsRem(inRow: number, compact: boolean): number {
  const step = compact ? ARC_STEP_REM.compact : ARC_STEP_REM.full;
  return inRow > 1 ? 0.75 * (ARC_REM + step * (inRow - 1)) + 0.5 : 0.5;
}

function placeIsland(geometry: Geometry, frame: Frame, sizes: Sizes, scene: Scene, bottom: number): void {
  const { rem, narrow, width, laneTop, islandWidth } = frame;
  const adrift = scene.groups.flatMap(({ servers }) => servers).filter((name) => scene.adrift.has(name));
  const { card } = sizes;
  if (narrow) {
    const height = adrift.length > 0 ? card.height + 3 * rem : 5.8 * rem;
    geometry.island = { x: 0, y: bottom + rem, width, height };
    const step = Math.min(
      card.width + 0.5 * rem,
      (width - card.width - rem) / Math.max(1, adrift.length - 1),
    );
    adrift.forEach((name, index) => {
      geometry.cards[name] = { ...card, x: 0.5 * rem + index * step, y: bottom + 3.4 * rem };
    });
    return;
  }
  geometry.island = { x: width - islandWidth, y: laneTop, width: islandWidth, height: bottom - laneTop };
  const own = { width: Math.min(card.width, islandWidth - 1.5 * rem), height: card.height };
  const room = bottom - laneTop - 3.4 * rem - card.height;
  const step = Math.min(card.height + 0.75 * rem, Math.max(0, room) / Math.max(1, adrift.length - 1));
  adrift.forEach((name, index) => {
    const x = width - islandWidth + (islandWidth - own.width) / 2;
    geometry.cards[name] = { ...own, x, y: laneTop + 2.9 * rem + index * step };
  });
}

/** Moves the cards that a person has dragged, except those on the island; they stay beside it and below the top. */
function applyShifts(geometry: Geometry, frame: Frame, scene: Scene, bottom: number): void {
  const { rem, width, islandWidth, laneTop } = frame;
  for (const [name, { x, y }] of Object.entries(scene.shifts ?? {})) {
    const box = geometry.cards[name];
    if (box === undefined || scene.adrift.has(name)) continue;
    const right = width - islandWidth - box.width;
    geometry.cards[name] = {
      ...box,
      x: Math.max(0, Math.min(right, box.x + x * rem)),
      y: Math.max(laneTop, Math.min(bottom - box.height, box.y + y * rem)),
    };
  }
}

function placeClients(geometry: Geometry, { rem, narrow, laneTop }: Frame, clients: string[]): void {
  clients.forEach((name, index) => {
    geometry.clients[name] = narrow
      ? { x: index * 9.5 * rem, y: 0.25 * rem, width: 9 * rem, height: 5.4 * rem }
      : { x: 0, y: laneTop + LANE_TOP_REM * rem + index * 7 * rem, width: 9.5 * rem, height: 6.2 * rem };
  });
}

function allLinks(geometry: Geometry, scene: Scene, rem: number): LinkShape[] {
  const links: LinkShape[] = [];
  for (const { servers } of scene.groups) {
    const ashore = servers.filter((name) => !scene.adrift.has(name));
    ashore.forEach((b, to) => {
      links.push({ a: b, b: COORDINATION, curve: toCoordination(geometry, b, rem) });
      for (const client of scene.clients)
        links.push({ a: client, b, curve: fromClient(geometry, client, b, rem) });
      ashore.slice(0, to).forEach((a, from) => {
        links.push({ a, b, curve: between(geometry, a, b, to - from, servers.length, rem) });
      });
    });
  }
  return links;
}

/** Every pair of actives that are not on the island, the upper one first. */
function allBridges(geometry: Geometry, { groups, adrift }: Scene, rem: number): LinkShape[] {
  const actives = groups.flatMap(({ active = "" }) =>
    geometry.cards[active] === undefined || adrift.has(active) ? [] : [active],
  );
  return actives.flatMap((b, to) =>
    actives.slice(0, to).map((a) => ({ a, b, curve: bridge(geometry, a, b, rem) })),
  );
}

/** A curve from the bottom of the upper card to the top of the lower one, away from the links within the groups. */
function bridge(geometry: Geometry, a: string, b: string, rem: number): Curve {
  const [upper, lower] = [boxOf(geometry, a), boxOf(geometry, b)];
  const start = { x: upper.x + upper.width * 0.62, y: upper.y + upper.height };
  const end = { x: lower.x + lower.width * 0.38, y: lower.y };
  const reach = Math.max(2 * rem, (end.y - start.y) * 0.45);
  return [start, { x: start.x, y: start.y + reach }, { x: end.x, y: end.y - reach }, end];
}

export function boxOf(geometry: Geometry, name: string): Box {
  return geometry.cards[name] ?? geometry.clients[name] ?? geometry.nodes[name] ?? geometry.coordination;
}

function toCoordination(geometry: Geometry, server: string, rem: number): Curve {
  const [card, top] = [boxOf(geometry, server), geometry.coordination];
  const start = { x: card.x + card.width * 0.5, y: card.y };
  const lean = (start.x - (top.x + top.width / 2)) / Math.max(1, geometry.coordination.x);
  const end = {
    x: top.x + top.width * Math.min(0.95, Math.max(0.05, 0.5 + 0.5 * lean)),
    y: top.y + top.height,
  };
  const bend = Math.max(rem, (start.y - end.y) * 0.5);
  return [start, { x: start.x, y: start.y - bend }, { x: end.x, y: end.y + bend }, end];
}

function fromClient(geometry: Geometry, client: string, server: string, rem: number): Curve {
  const [from, card] = [boxOf(geometry, client), boxOf(geometry, server)];
  const end = { x: card.x + card.width * 0.22, y: card.y };
  if (geometry.narrow) {
    const start = { x: from.x + from.width / 2, y: from.y + from.height };
    return [start, { x: start.x, y: start.y + rem }, { x: end.x, y: end.y - 1.5 * rem }, end];
  }
  const start = { x: from.x + from.width, y: from.y + from.height * 0.3 };
  const reach = Math.max(rem, (end.x - start.x) * 0.35);
  return [start, { x: start.x + reach, y: card.y - 2.9 * rem }, { x: end.x, y: card.y - 2.6 * rem }, end];
}

/** Nested arcs beneath a row join its servers; servers of two rows are joined from bottom to top. */
function between(geometry: Geometry, a: string, b: string, apart: number, of: number, rem: number): Curve {
  const [left, right] = [boxOf(geometry, a), boxOf(geometry, b)];
  if (Math.abs(left.y - right.y) > 1) {
    const start = { x: left.x + left.width * 0.6, y: left.y + left.height };
    const end = { x: right.x + right.width * 0.4, y: right.y };
    return [start, { x: start.x, y: start.y + 1.5 * rem }, { x: end.x, y: end.y - 1.5 * rem }, end];
  }
  const share = 0.34 * (1 - (apart - 1) / Math.max(1, of - 1));
  const y = left.y + left.height;
  const start = { x: left.x + left.width * (0.5 + share), y };
  const end = { x: right.x + right.width * (0.5 - share), y };
  const step = geometry.compact ? ARC_STEP_REM.compact : ARC_STEP_REM.full;
  const depth = y + (ARC_REM + step * apart) * rem;
  const reach = Math.min(2.5 * rem, (end.x - start.x) * 0.25);
  return [start, { x: start.x + reach, y: depth }, { x: end.x - reach, y: depth }, end];
}

/** The point at share `t` (0 to 1) of a curve. */
export function along([p0, p1, p2, p3]: Curve, t: number): Point {
  const u = 1 - t;
  const [w0, w1, w2, w3] = [u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t];
  return {
    x: w0 * p0.x + w1 * p1.x + w2 * p2.x + w3 * p3.x,
    y: w0 * p0.y + w1 * p1.y + w2 * p2.y + w3 * p3.y,
  };
}

export function svgPath([p0, p1, p2, p3]: Curve): string {
  return `M${p0.x},${p0.y}C${p1.x},${p1.y} ${p2.x},${p2.y} ${p3.x},${p3.y}`;
}

export function inside({ x, y }: Point, box: Box): boolean {
  return x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;
}

export function centre(box: Box): Point {
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}
