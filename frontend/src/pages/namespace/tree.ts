/** The tree as rows, from the directories that have been read; pure. */

import { t } from "@lingui/core/macro";
import type { Directory, Entry } from "../../api/schema";

/** A directory: the names of the last read, and the state of the newest request. */
export interface Dir {
  read: Pick<Directory, "home" | "entries" | "more"> | null;
  asking: boolean;
  /** Error of the newest request; empty when it succeeded. */
  failed: string;
}

export type Dirs = Readonly<Record<string, Dir>>;

export interface ObjectRow {
  kind: "object";
  id: string;
  path: string;
  depth: number;
  /** The entry; null for the root, which is in no directory. */
  entry: Entry | null;
  home: string;
  /** Known directory; null for a file. */
  open: boolean | null;
}

/** Row with a message in place of names, for the directory `path`. */
export interface WordRow {
  kind: "asking" | "empty" | "failed" | "more";
  id: string;
  path: string;
  depth: number;
  words: string;
}

export type Row = ObjectRow | WordRow;

export const ROOT = "/";

export function joined(parent: string, name: string): string {
  return parent === ROOT ? `/${name}` : `${parent}/${name}`;
}

export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || ROOT;
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** All directories above a path, the root first; none for the root itself. */
export function above(path: string): string[] {
  return path === ROOT ? [] : [...above(parentOf(path)), parentOf(path)];
}

/** Whether `path` is `of` or below it. */
export function within(path: string, of: string): boolean {
  return path === of || of === ROOT || path.startsWith(`${of}/`);
}

/** The visible rows, with the directories in `opened` open. */
export function rowsOf(dirs: Dirs, opened: ReadonlySet<string>): Row[] {
  const home = dirs[ROOT]?.read?.home ?? "";
  const open = opened.has(ROOT);
  const root: ObjectRow = { kind: "object", id: ROOT, path: ROOT, depth: 1, entry: null, home, open };
  return open ? [root, ...below(dirs, opened, ROOT, 2)] : [root];
}

function below(dirs: Dirs, opened: ReadonlySet<string>, path: string, depth: number): Row[] {
  const { read, asking, failed } = dirs[path] ?? { read: null, asking: true, failed: "" };
  const said = (kind: WordRow["kind"], words: string): Row => ({
    kind,
    id: `${path}\0${kind}`,
    path,
    depth,
    words,
  });
  const rows: Row[] = [];
  for (const entry of read?.entries ?? []) {
    const child = joined(path, entry.name);
    const open = entry.kind === "directory" ? opened.has(child) : null;
    rows.push({ kind: "object", id: child, path: child, depth, entry, home: entry.home, open });
    if (open === true) rows.push(...below(dirs, opened, child, depth + 1));
  }
  if (failed !== "") rows.push(said("failed", failed));
  else if (read === null || (asking && read.entries.length === 0)) rows.push(said("asking", t`Reading…`));
  else if (read.more) rows.push(said("more", asking ? t`Reading…` : t`Show more names`));
  else if (read.entries.length === 0) rows.push(said("empty", t`An empty directory`));
  return rows;
}

/** The row that an arrow key moves to from `id`; the same one where there is no other. */
export function moved(rows: readonly Row[], id: string, key: string): string {
  const able = rows.filter(({ kind }) => kind === "object" || kind === "more" || kind === "failed");
  const at = Math.max(
    0,
    able.findIndex((row) => row.id === id),
  );
  const row = able[at];
  if (row === undefined) return id;
  const next = able[at + 1];
  if (key === "ArrowLeft")
    return row.id === ROOT ? ROOT : row.kind === "object" ? parentOf(row.path) : row.path;
  if (key === "ArrowRight") return next !== undefined && next.depth > row.depth ? next.id : row.id;
  const places: Record<string, number> = {
    ArrowUp: at - 1,
    ArrowDown: at + 1,
    Home: 0,
    End: able.length - 1,
  };
  return able[places[key] ?? at]?.id ?? row.id;
}

/** The names after a further page; newly read entries replace the known ones. */
export function extended(known: Dir["read"], came: Directory, again: boolean): Dir["read"] {
  const kept = again || known === null ? [] : known.entries;
  return { home: came.home, entries: [...kept, ...came.entries], more: came.more };
}
