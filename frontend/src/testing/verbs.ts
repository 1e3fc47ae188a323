/** Rows of a table of faults for tests: what a row does not say is as of a verb on servers that does nothing more. */

import type { Verb, VerbOption } from "../api/faults";

export function option(fields: Partial<VerbOption> & Pick<VerbOption, "name" | "type">): VerbOption {
  const plain = { default: null, help: "", unit: "", least: 0, most: 0, step: 1, choices: [] };
  return { ...plain, several: false, shown: true, ...fields };
}

export function row(verb: string, fields: Partial<Verb> = {}): Verb {
  return {
    verb,
    key: "",
    label: verb,
    label_one: "",
    targets: ["server"],
    options: [],
    undo: null,
    danger: null,
    states: [],
    lasts: true,
    mends: false,
    leaves: null,
    unseats: false,
    empties: false,
    asks: false,
    done: "",
    done_one: "",
    undone: "",
    rule: "",
    ...fields,
  };
}
