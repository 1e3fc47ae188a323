/** The table of faults from the control plane: rows by verb, and their phrases with a fault's values filled in. */

import { t } from "@lingui/core/macro";
import type { Option, Verb } from "../api/schema";

export type Options = Record<string, unknown>;

/** The row of a verb; undefined for a verb of another family, in a run of that family. */
export function rowOf(verbs: readonly Verb[], name: string): Verb | undefined {
  return verbs.find(({ verb }) => verb === name);
}

export function defaultsOf(verb: Verb): Options {
  return Object.fromEntries(verb.options.map((option) => [option.name, option.default]));
}

/** The option with which a verb on links takes many names at one end; undefined where there is none. */
export function severalOf(verb: Verb): Option | undefined {
  return verb.options.find(({ several }) => several);
}

/** Whether these options end the fault that the verb began with others. */
export function isUndone(verb: Verb, options: Options): boolean {
  if (verb.undo?.verb !== verb.verb) return false;
  return Object.entries(verb.undo.options).every(([name, value]) => options[name] === value);
}

/** "mds1", "mds1 and mds2", "mds1, mds2 and mds3". */
export function listed(names: readonly string[]): string {
  if (names.length < 2) return names[0] ?? "";
  return t`${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
}

function way(targets: readonly string[], { direction }: Options): string {
  const [a, b] = targets;
  if (a === undefined) return t`all links`;
  if (b === undefined) {
    if (direction === "to") return t`what ${a} sends`;
    return direction === "from" ? t`what ${a} is sent` : t`the links of ${a}`;
  }
  if (direction === "to") return `${a} → ${b}`;
  return direction === "from" ? `${b} → ${a}` : `${a} ↔ ${b}`;
}

/** A template of the table, filled in. A part in brackets is left out when one of its values is unknown. */
export function phrase(
  template: string,
  verb: Verb,
  targets: readonly string[],
  options: Options = {},
): string {
  const said = (name: string): string | undefined => {
    if (name === "targets") return listed(targets);
    if (name === "last") return targets.at(-1) ?? "";
    if (name === "way") return way(targets, options);
    const value = options[name];
    if (value === undefined || value === null) return undefined;
    const type = verb.options.find((option) => option.name === name)?.type;
    return type === "share" ? `${Math.round(Number(value) * 100)}%` : String(value).replaceAll("_", " ");
  };
  const known = template.replace(/\[([^\]]*)\]/g, (_, part: string) =>
    [...part.matchAll(/\{(\w+)\}/g)].every(([, name]) => said(name as string) !== undefined) ? part : "",
  );
  return known.replace(/\{(\w+)\}/g, (_, name: string) => said(name) ?? "");
}

/** The result of a verb for a toast: "Crashed mds1: its memory is gone". */
export function doneWords(
  verbs: readonly Verb[],
  name: string,
  targets: readonly string[],
  options: Options,
): string {
  const verb = rowOf(verbs, name);
  if (verb === undefined) return `${name.replaceAll("_", " ")}: ${listed(targets)}`;
  const several = severalOf(verb);
  if (several !== undefined && options[several.name] === true && targets.length > 1)
    return t`${verb.label} ${listed(targets)} off from the rest`;
  const one = verb.done_one !== "" && targets.length === 1 && (options.direction ?? "both") === "both";
  const template = isUndone(verb, options) ? verb.undone : one ? verb.done_one : verb.done;
  const plain = verb.targets.includes("link") ? "{way}" : "{targets}";
  return phrase(template === "" ? `${verb.label}: ${plain}` : template, verb, targets, options);
}
