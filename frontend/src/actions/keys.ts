/** Effects of the keys. Menus, the help and the handler are made from the verbs of the control plane. */

import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import type { Verb } from "../api/schema";
import { stepBack, stepForward, toggleFrozen } from "../store/moment";
import { isLive, onlyLooks, shownPicture, useLab } from "../store/store";
import { toast } from "../store/toasts";
import { refusesLooker } from "./looking";
import { changeClock, perform } from "./perform";
import { severalOf } from "./verbs";

export interface KeyLine {
  keys: string[];
  does: MessageDescriptor;
}

export const CLOCK_KEYS: KeyLine[] = [
  { keys: ["Space"], does: msg`Pause virtual time, or let it pass` },
  { keys: ["."], does: msg`Step to the next event` },
];

export const TIME_KEYS: KeyLine[] = [
  { keys: ["Space"], does: msg`Freeze or unfreeze the picture` },
  { keys: ["."], does: msg`The next event, frozen` },
  { keys: [","], does: msg`Back by one event, frozen` },
];

export const PLACE_KEYS: KeyLine[] = [
  { keys: ["1", "…", "9"], does: msg`Select a server or a node` },
  { keys: ["←", "→"], does: msg`Select the server beside it` },
  { keys: ["Shift", "←"], does: msg`Move the focused card, in any direction` },
  { keys: ["Enter"], does: msg`Open the menu of the selection` },
  { keys: ["Esc"], does: msg`Select nothing` },
  { keys: ["Ctrl", "K"], does: msg`All commands: type a few letters` },
  { keys: ["?"], does: msg`These keys and words` },
];

/** Whether the focused element takes keys as text. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement) return true;
  if (target instanceof HTMLSelectElement) return true;
  return (
    target instanceof HTMLInputElement && !["checkbox", "radio", "button", "range"].includes(target.type)
  );
}

/** Space and Enter belong to these elements when they have the focus; a server's card gives Space away. */
export function ownsSpace(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  const control = target.closest("button, a, input, summary, [role=menuitem], [role=switch]");
  return control !== null && !control.hasAttribute("data-server-card");
}

/** Does the present action of `key`; false when it has none. */
export function press(key: string): boolean {
  if (clockKey(key)) return true;
  if (key === " ") toggleFrozen();
  else if (key === ".") void stepForward();
  else if (key === ",") void stepBack();
  else if (/^[1-9]$/.test(key)) selectNth(Number(key) - 1);
  else return act(key.toUpperCase());
  return true;
}

/** In the present of a simulated cluster these keys control its clock; in its past, and for who only looks, they move through the past. */
function clockKey(key: string): boolean {
  const state = useLab.getState();
  if (state.virtual === null || onlyLooks(state) || !isLive(state)) return false;
  if (key === " ") void changeClock({ playing: !state.virtual.playing });
  else if (key === ".") void changeClock({ step: "event" });
  else return false;
  return true;
}

function act(key: string): boolean {
  const verb = useLab.getState().verbs.find((each) => each.key === key);
  if (verb === undefined) return false;
  if (refusesLooker()) return true;
  const targets = targetsFor(verb);
  const { selection } = useLab.getState();
  if (verb.asks && selection?.kind === "server") {
    useLab.setState({ menu: { ...selection, asks: verb.verb } });
    return true;
  }
  useLab.setState({ menu: null });
  if (targets === null)
    toast(t`${verb.label}: select a server first (1 to 9, arrows or a click)`, null, "error");
  else void perform(verb.verb, targets, severalOptions(verb, targets));
  return true;
}

/** Actions on several selected servers. */
function severalOptions(verb: Verb, targets: string[]): Record<string, unknown> {
  const several = severalOf(verb);
  const together = useLab.getState().selection?.kind === "servers" && targets.length > 1;
  return several !== undefined && together ? { [several.name]: true } : {};
}

/** Targets of a verb's key: the part of the selection that the verb accepts; null when that is empty. */
function targetsFor(verb: Verb): string[] | null {
  const { selection } = useLab.getState();
  const takes = (kind: string): boolean => verb.targets.includes(kind);
  if (takes("cluster")) return [];
  if (takes("group")) return groupOfSelection();
  if (!takes("link")) return selection?.kind === "server" ? [selection.name] : null;
  if (selection?.kind === "link") return [selection.a, selection.b];
  if (selection?.kind === "server") return [selection.name];
  if (selection?.kind === "servers" && severalOf(verb) !== undefined) return selection.names;
  return takes("links") ? [] : null;
}

function groupOfSelection(): string[] | null {
  const { selection, live } = useLab.getState();
  const own = selection?.kind === "server" ? live.servers[selection.name]?.group : undefined;
  const groups = Object.keys(live.groups);
  const name = own ?? (groups.length === 1 ? groups[0] : undefined);
  return name === undefined ? null : [name];
}

/** Servers and nodes, in the order of the topology. */
function selectable(): string[] {
  const { servers, nodes } = shownPicture(useLab.getState());
  return [...Object.keys(servers), ...Object.keys(nodes)];
}

function selectNth(index: number): void {
  const name = selectable()[index];
  if (name === undefined) return;
  useLab.setState({ selection: { kind: "server", name } });
  document.getElementById(`card-${name}`)?.focus();
}

/** Moves the selection along the servers by `step`. */
export function selectBeside(step: number): void {
  const names = selectable();
  const { selection } = useLab.getState();
  const at = selection?.kind === "server" ? names.indexOf(selection.name) : step > 0 ? -1 : names.length;
  selectNth(Math.min(names.length - 1, Math.max(0, at + step)));
}
