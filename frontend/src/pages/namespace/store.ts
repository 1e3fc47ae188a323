/** The part of the tree that has been read, and the actions that read more of it or change it. */

import { t } from "@lingui/core/macro";
import { create } from "zustand";
import { api, lineOf, upload } from "../../api/client";
import type { Entry, FsRequest } from "../../api/schema";
import { useLab } from "../../store/store";
import { toast } from "../../store/toasts";
import { formatBytes } from "../../ui/bytes";
import { above, type Dir, type Dirs, extended, joined, nameOf, parentOf, ROOT, within } from "./tree";

/** Most pages of names in which a name is searched for in a large directory. */
const PAGES_MOST = 20;

interface TreeState {
  dirs: Dirs;
  opened: ReadonlySet<string>;
  /** Id of the selected row. */
  current: string;
  /** Reason why the requested path is not shown; empty when it is. */
  missing: string;
}

export const useTree = create<TreeState>()(() => ({
  dirs: {},
  opened: new Set([ROOT]),
  current: ROOT,
  missing: "",
}));

const newest = new Map<string, number>();

function changed(path: string, change: Partial<Dir>): void {
  useTree.setState(({ dirs }) => {
    const known = dirs[path] ?? { read: null, asking: false, failed: "" };
    return { dirs: { ...dirs, [path]: { ...known, ...change } } };
  });
}

/** Reads the first names of a directory, or those after the known ones. A later request cancels an earlier one. */
async function ask(path: string, again: boolean): Promise<boolean> {
  const number = (newest.get(path) ?? 0) + 1;
  newest.set(path, number);
  changed(path, { asking: true, failed: "" });
  const after = again ? "" : (useTree.getState().dirs[path]?.read?.entries.at(-1)?.name ?? "");
  try {
    const came = await api.directory(path, after);
    if (newest.get(path) !== number) return false;
    const known = useTree.getState().dirs[path]?.read ?? null;
    changed(path, { read: extended(known, came, again), asking: false });
    return true;
  } catch (error) {
    if (newest.get(path) === number) changed(path, { asking: false, failed: lineOf(error) });
    return false;
  }
}

export function more(path: string): Promise<boolean> {
  return ask(path, false);
}

/** Reads a directory again, and as many names as were known. */
export async function again(path: string): Promise<void> {
  const known = useTree.getState().dirs[path]?.read?.entries.length ?? 0;
  let went = await ask(path, true);
  for (let page = 1; went && page < PAGES_MOST; page += 1) {
    const read = useTree.getState().dirs[path]?.read;
    if (!read?.more || read.entries.length >= known) return;
    went = await ask(path, false);
  }
}

/** Reads every open directory again. */
export function againAll(): void {
  const { opened, dirs } = useTree.getState();
  for (const path of opened) if (path === ROOT || path in dirs) void again(path);
}

export function point(id: string): void {
  useTree.setState({ current: id });
  useLab.setState({ path: id.split("\0")[0] ?? ROOT });
}

export function setOpen(path: string, open: boolean): void {
  useTree.setState(({ opened }) => {
    const next = new Set(opened);
    if (open) next.add(path);
    else next.delete(path);
    return { opened: next };
  });
  const dir = useTree.getState().dirs[path];
  if (open && (dir === undefined || (dir.read === null && !dir.asking))) void again(path);
}

function entryOf(path: string): Entry | undefined {
  const entries = useTree.getState().dirs[parentOf(path)]?.read?.entries ?? [];
  return entries.find(({ name }) => name === nameOf(path));
}

function has(path: string): boolean {
  return path === ROOT || entryOf(path) !== undefined;
}

/** Opens all directories above a path, reads the missing ones, and selects it; can open a directory, too. */
export async function show(path: string, open = false): Promise<void> {
  useTree.setState({ missing: "" });
  if (useTree.getState().dirs[ROOT] === undefined) await again(ROOT);
  for (const [index, directory] of above(path).entries()) {
    const child = [...above(path), path][index + 1] ?? path;
    if (!(await found(directory, child))) {
      const why = useTree.getState().dirs[directory]?.failed;
      useTree.setState({ missing: why || t`There is no ${child}` });
      point(directory);
      return;
    }
    setOpen(directory, true);
  }
  point(path);
  if (open && (path === ROOT || entryOf(path)?.kind === "directory")) setOpen(path, true);
}

async function found(directory: string, child: string): Promise<boolean> {
  if (has(child)) return true;
  await again(directory);
  for (let page = 0; page < PAGES_MOST && !has(child); page += 1)
    if (!useTree.getState().dirs[directory]?.read?.more || !(await more(directory))) break;
  return has(child);
}

/** Changes the tree, then reads the change. Throws the control plane's error. */
async function change(request: FsRequest, directories: string[], then: string): Promise<void> {
  await api.fs(request);
  for (const directory of new Set(directories)) await again(directory);
  await show(then);
}

export async function makeDirectory(parent: string, name: string): Promise<void> {
  const path = joined(parent, name);
  await change({ do: "mkdir", path }, [parent], path);
  toast(t`Created ${path}, kept by ${entryOf(path)?.home ?? t`its group`}`);
}

export async function createFile(parent: string, name: string): Promise<void> {
  const path = joined(parent, name);
  await change({ do: "create", path }, [parent], path);
  toast(t`Created ${path}, kept by ${entryOf(path)?.home ?? t`its group`}`);
}

/** Uploads a local file. Throws the control plane's error. */
export async function uploadFile(
  parent: string,
  name: string,
  file: File,
  progress: (share: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const path = joined(parent, name);
  try {
    const { size } = await upload(path, file, progress, signal);
    toast(t`Uploaded ${formatBytes(size)} to ${path}`);
  } finally {
    await again(parent);
  }
  await show(path);
}

export async function rename(path: string, to: string): Promise<void> {
  await change({ do: "mv", path, to }, [parentOf(path), parentOf(to)], to);
  forget(path);
  toast(t`Renamed ${path} to ${to}`);
}

export async function remove(path: string, recursive: boolean): Promise<void> {
  await change({ do: "rm", path, recursive }, [parentOf(path)], parentOf(path));
  forget(path);
  toast(t`Deleted ${path}`);
}

/** Drops the entries below a path that no longer exists. */
function forget(path: string): void {
  useTree.setState(({ dirs, opened }) => ({
    dirs: Object.fromEntries(Object.entries(dirs).filter(([each]) => !within(each, path))),
    opened: new Set([...opened].filter((each) => !within(each, path))),
  }));
}
