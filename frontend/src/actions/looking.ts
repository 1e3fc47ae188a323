/** What an instructor can do at a student's cluster: look, and fork it. */

import { t } from "@lingui/core/macro";
import { api } from "../api/client";
import { inCluster } from "../api/fleet";
import type { StudentName } from "../api/schema";
import { canAct, type LabState, useLab } from "../store/store";
import { complain, toast } from "../store/toasts";

export function lookingWords({ name }: StudentName): string {
  return t`You look at ${name}'s cluster. Fork it to try something.`;
}

/** Opens a cluster of the instructor's that has repeated the student's run. Throws the control plane's error. */
export async function openFork(student: string): Promise<void> {
  location.assign(inCluster("/", (await api.forkStudent(student)).name));
}

/** Why the live run cannot be changed here; empty when it can. */
export function unchangeable(state: LabState): string {
  if (state.looksAt !== null) return lookingWords(state.looksAt);
  return canAct(state) ? "" : t`A past run cannot be changed: return to the live one first`;
}

/** Says that the instructor only looks, where that is so; false where it is not. */
export function refusesLooker(): boolean {
  const { looksAt } = useLab.getState();
  if (looksAt !== null) toast(lookingWords(looksAt), null, "error");
  return looksAt !== null;
}

/** Forks the cluster that is looked at; a refusal is shown in a toast. */
export function forkLooked(): void {
  const { looksAt } = useLab.getState();
  if (looksAt !== null) openFork(looksAt.id).catch(complain);
}
