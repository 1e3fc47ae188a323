/** The faults in force, in words, with what ends each of them. Pure. */

import type { Fault, Verb } from "../api/schema";
import { defaultsOf, doneWords, type Options, rowOf, severalOf } from "./verbs";

/** A request that ends a fault. */
export interface Ending {
  verb: string;
  targets: string[];
  options: Options;
}

/** What ends a fault; empty when nothing does. */
export function endingsOf(verbs: readonly Verb[], { verb: name, targets, options }: Fault): Ending[] {
  const verb = rowOf(verbs, name);
  if (!verb?.undo) return [];
  const several = severalOf(verb);
  const each = several && options[several.name] === true ? targets.map((target) => [target]) : [targets];
  const { undo } = verb;
  return each.map((some) => ({ verb: undo.verb, targets: some, options: undo.options }));
}

export function faultWords(verbs: readonly Verb[], { verb, targets, options }: Fault): string {
  return doneWords(verbs, verb, targets, options);
}

/** A fault that leaves its target running, in a few words for its card: "Slow disk 100 ms". Empty for faults of links and processes. */
function markOf(verbs: readonly Verb[], { verb: name, options }: Fault): string {
  const verb = rowOf(verbs, name);
  if (verb === undefined || verb.rule !== "" || verb.leaves !== null) return "";
  const defaults = defaultsOf(verb);
  const numbers = verb.options
    .filter(({ type, shown }) => shown && (type === "whole" || type === "number"))
    .map(({ name: option, unit }) => `${options[option] ?? defaults[option]} ${unit}`);
  return [verb.label, ...numbers].join(" ");
}

/** Marks of the faults at each server or node, by name. */
export function marksOf(verbs: readonly Verb[], faults: readonly Fault[]): Record<string, string> {
  const marks: Record<string, string[]> = {};
  for (const fault of faults) {
    const mark = markOf(verbs, fault);
    if (mark === "") continue;
    for (const name of fault.targets) {
      const own = marks[name] ?? [];
      marks[name] = own;
      own.push(mark);
    }
  }
  return Object.fromEntries(Object.entries(marks).map(([name, own]) => [name, own.join(", ")]));
}
