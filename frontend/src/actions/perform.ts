import { api } from "../api/client";
import type { FaultRequest, Verb, WorkloadState } from "../api/types";
import { vocabularyOf } from "../families/vocabulary";
import { canAct, useLab } from "../store/store";
import { complain, toast } from "../store/toasts";
import { doneWords } from "./words";

type Options = Record<string, unknown>;

const UNDO_LABEL: Record<string, string> = { restart: "Restart it", resume: "Resume it", heal: "Heal" };
const UNDO_OPTIONS: Record<string, Options> = { slow_disk: { ms: 0 }, fail_disk: { on: false } };

export function verbNamed(name: string): Verb | undefined {
  return useLab.getState().verbs.find(({ verb }) => verb === name);
}

function defaults(verb: Verb): Options {
  return Object.fromEntries(verb.options.map((option) => [option.name, option.default]));
}

/** Does a verb and says what was done; what cannot be done now is told in the control plane's words. */
export async function perform(name: string, targets: string[], given: Options = {}): Promise<void> {
  const verb = verbNamed(name);
  if (verb === undefined) return;
  if (!canAct(useLab.getState())) {
    toast("Nothing can be done to a past run: go back to the live one first", null, "error");
    return;
  }
  const options = { ...defaults(verb), ...given };
  const request: FaultRequest = { verb: name, targets, options };
  try {
    const { added } = await api.fault(request);
    const words = vocabularyOf(useLab.getState().cluster?.protocol);
    toast(
      added ? `Added ${added}: it starts ${words.begins}` : doneWords(name, targets, options),
      undoOf(verb, targets, options),
    );
  } catch (error) {
    complain(error);
  }
}

function undoOf(verb: Verb, targets: string[], options: Options): { label: string; run: () => void } | null {
  const undo = verb.undo;
  if (undo === null || (undo === verb.verb && isUndone(verb, options))) return null;
  const label = UNDO_LABEL[undo] ?? "Undo";
  const each = options.island === true ? targets.map((name) => [name]) : [targets];
  const run = (): void => {
    for (const some of each) void perform(undo, some, UNDO_OPTIONS[undo] ?? {});
  };
  return { label, run };
}

/** Whether the options already say the verb's own end (no slowness, no failure). */
function isUndone(verb: Verb, options: Options): boolean {
  const end = UNDO_OPTIONS[verb.verb] ?? {};
  return Object.entries(end).every(([name, value]) => options[name] === value);
}

export async function changeWorkload(change: Partial<WorkloadState>): Promise<void> {
  try {
    const state = await api.workload(change);
    useLab.setState(({ clients }) => ({ clients: clients.map((client) => ({ ...client, ...state })) }));
    const speed = state.rate_per_s > 0 ? `${state.rate_per_s} calls a second` : "as fast as answers come";
    toast(state.paused ? "Paused the workload" : `The workload goes on: ${speed}`);
  } catch (error) {
    complain(error);
  }
}
