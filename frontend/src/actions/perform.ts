import { t } from "@lingui/core/macro";
import { api } from "../api/client";
import type { ClockChange, FaultRequest, Verb, WorkloadState } from "../api/schema";
import { vocabularyOf } from "../families/vocabulary";
import { useLab } from "../store/store";
import { complain, toast } from "../store/toasts";
import { endingsOf } from "./inForce";
import { unchangeable } from "./looking";
import { defaultsOf, doneWords, isUndone, type Options, rowOf } from "./verbs";

export function verbNamed(name: string): Verb | undefined {
  return rowOf(useLab.getState().verbs, name);
}

/** Does a verb and reports the result in a toast; a refusal is shown in the control plane's words. */
export async function perform(name: string, targets: string[], given: Options = {}): Promise<void> {
  const verb = verbNamed(name);
  if (verb === undefined) return;
  const why = unchangeable(useLab.getState());
  if (why !== "") {
    toast(why, null, "error");
    return;
  }
  const options = { ...defaultsOf(verb), ...given };
  const request: FaultRequest = { verb: name, targets, options };
  try {
    const { added } = await api.fault(request);
    const words = vocabularyOf(useLab.getState().cluster?.protocol);
    toast(
      added
        ? t`Added ${added}: it starts ${words.begins}`
        : doneWords(useLab.getState().verbs, name, targets, options),
      undoOf(verb, targets, options),
    );
  } catch (error) {
    complain(error);
  }
}

function undoOf(verb: Verb, targets: string[], options: Options): { label: string; run: () => void } | null {
  const { undo } = verb;
  if (undo === null || isUndone(verb, options)) return null;
  const label = undo.verb === verb.verb ? t`Undo` : (verbNamed(undo.verb)?.label ?? t`Undo`);
  const fault = { fault: 0, verb: verb.verb, targets, options, at_ns: 0 };
  const run = (): void => {
    for (const ending of endingsOf([verb], fault)) void perform(ending.verb, ending.targets, ending.options);
  };
  return { label, run };
}

export async function changeClock(change: ClockChange): Promise<void> {
  try {
    const virtual = await api.clock(change);
    useLab.setState({ virtual });
  } catch (error) {
    complain(error);
  }
}

export async function changeWorkload(change: Partial<WorkloadState>): Promise<void> {
  try {
    const state = await api.workload(change);
    useLab.setState(({ clients }) => ({ clients: clients.map((client) => ({ ...client, ...state })) }));
    const speed = state.rate_per_s > 0 ? t`${state.rate_per_s} calls a second` : t`as fast as replies come`;
    toast(state.paused ? t`Paused the workload` : t`Resumed the workload: ${speed}`);
  } catch (error) {
    complain(error);
  }
}
