/** Actions on the selected object; the dialog asks for their input. */

import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { create } from "zustand";
import { refusesLooker } from "../../actions/looking";
import { isConnected, useLab } from "../../store/store";
import { toast } from "../../store/toasts";
import { useTree } from "./store";
import { type Dirs, nameOf, parentOf, ROOT } from "./tree";

export type ActName = "make" | "create" | "upload" | "rename" | "delete";

export interface Target {
  act: ActName;
  /** For `make`, `create` and `upload` the parent directory, else the object that is changed. */
  path: string;
  directory: boolean;
  /** Number of names in it; 0 for a file. */
  entries: number;
  home: string;
}

export const ACTS: { act: ActName; label: MessageDescriptor; key: string }[] = [
  { act: "make", label: msg`New directory`, key: "N" },
  { act: "create", label: msg`New empty file`, key: "E" },
  { act: "upload", label: msg`Upload a file`, key: "O" },
  { act: "rename", label: msg`Rename or move`, key: "M" },
  { act: "delete", label: msg`Delete`, key: "D" },
];

/** Actions that add an object to a directory. */
export const PUTS = new Set<ActName>(["make", "create", "upload"]);

const OTHER_KEYS: Record<string, ActName> = { F2: "rename", Delete: "delete" };

export function actOfKey(key: string): ActName | null {
  return OTHER_KEYS[key] ?? ACTS.find((each) => each.key === key.toUpperCase())?.act ?? null;
}

/** The action whose dialog is open. */
export const useAct = create<{ target: Target | null }>()(() => ({ target: null }));

/** The target of an action, with `path` selected. */
export function targetOf(act: ActName, path: string, dirs: Dirs): Target {
  const parent = dirs[parentOf(path)]?.read;
  const entry = parent?.entries.find(({ name }) => name === nameOf(path));
  const [home, directory] = path === ROOT ? [parent?.home, true] : [entry?.home, entry?.kind === "directory"];
  if (PUTS.has(act) && !directory)
    return { act, path: parentOf(path), directory: true, entries: 0, home: parent?.home ?? "" };
  return { act, path, directory, entries: entry?.entries ?? 0, home: home ?? "" };
}

/** Opens the dialog of an action, or shows why it is impossible. */
export function beginAct(act: ActName): void {
  const state = useLab.getState();
  if (refusesLooker()) return;
  if (!isConnected(state)) toast(t`The control plane does not answer now`, null, "error");
  else if (state.path === ROOT && !PUTS.has(act)) toast(t`The root stays what it is`, null, "error");
  else useAct.setState({ target: targetOf(act, state.path, useTree.getState().dirs) });
}
