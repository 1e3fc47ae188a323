/** What the page reads out of the coordination tree and its changes; pure. */

import type { ExplainedChange, TreeChanges, TreeView, WatchedNode } from "../../api/schema";

/** How long a node counts as changed lately after a reading showed it so. */
export const LATELY_MS = 10_000;

/** The newest reading of the tree. */
export interface Reading {
  /** null until the first one. */
  view: TreeView | null;
  /** Error of the newest request; empty when it succeeded. */
  failed: string;
  /** When a reading showed that a node had changed since the one before, by path. */
  noticed: ReadonlyMap<string, number>;
}

export const UNREAD: Reading = { view: null, failed: "", noticed: new Map() };

/** The reading after `view` was read at `now_ms`. */
export function readAgain(old: Reading, view: TreeView, now_ms: number): Reading {
  const noticed = new Map([...old.noticed].filter(([, at_ms]) => now_ms - at_ms < LATELY_MS));
  const before = new Map(old.view?.nodes.map((node) => [node.path, node]));
  if (old.view !== null)
    for (const node of view.nodes) if (isChanged(before.get(node.path), node)) noticed.set(node.path, now_ms);
  return { view, failed: "", noticed };
}

function isChanged(before: WatchedNode | undefined, { version, session }: WatchedNode): boolean {
  return before === undefined || before.version !== version || before.session !== session;
}

/** Fields of a node's JSON object, without the cause that its writer added for the history; null for any other data. */
export function fieldsOf(data: string): [name: string, value: string][] | null {
  const object = objectOf(data);
  if (object === null) return null;
  return Object.entries(object)
    .filter(([name]) => name !== "cause")
    .map(([name, value]) => [name, fieldText(value)]);
}

/** A value as a person writes it, "mds1, mds2" or "mds1 7, mds2 9"; as JSON where it has further levels. */
function fieldText(value: unknown): string {
  if (typeof value === "string") return value;
  if (!isNested(value) || Object.values(value).some(isNested)) return JSON.stringify(value);
  const parts = Array.isArray(value) ? value : Object.entries(value).map((entry) => entry.join(" "));
  return parts.join(", ") || "–";
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function objectOf(data: string): Record<string, unknown> | null {
  if (!data.startsWith("{")) return null;
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}

const ROOT = "/cloverlab/groups";
export const lockPath = (group: string): string => `${ROOT}/${group}/lock`;

export interface LockRow {
  group: string;
  /** Empty while nobody holds the lock; null for a group that has none. */
  holder: string | null;
  /** The newest change of the lock, or of the whole group where it has no lock. */
  change: ExplainedChange | undefined;
}

/** Who holds the lock of each group as the tree has it now, and the change that made it so. */
export function locksOf(
  groups: readonly string[],
  nodes: readonly WatchedNode[],
  changes: readonly ExplainedChange[],
): LockRow[] {
  return groups.map((group) => {
    const path = lockPath(group);
    const node = nodes.find((each) => each.path === path);
    const ofLock = changes.find((each) => each.path === path && each.event.kind === "LockHeld");
    if (node === undefined && ofLock === undefined)
      return { group, holder: null, change: changes.find((each) => isOfGroup(each, group)) };
    const owner = node === undefined ? "" : (objectOf(node.data)?.owner ?? "");
    return { group, holder: String(owner), change: ofLock };
  });
}

function isOfGroup({ path }: ExplainedChange, group: string): boolean {
  return path.startsWith(`${ROOT}/${group}/`);
}

/** The newest change of each node. */
export function newestByPath({ changes }: TreeChanges): Map<string, ExplainedChange> {
  return new Map([...changes].reverse().map((change) => [change.path, change]));
}

/** A path as what leads to a node, and its name. */
export function splitPath(path: string): [above: string, name: string] {
  const cut = path.lastIndexOf("/") + 1;
  return [path.slice(0, cut), path.slice(cut)];
}
