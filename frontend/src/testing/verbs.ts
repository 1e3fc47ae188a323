/** Rows of a table of faults for tests; unset fields describe a verb on servers without further effects. */

import type { Option, Verb } from "../api/schema";

export function option(fields: Partial<Option> & Pick<Option, "name" | "type">): Option {
  const plain = {
    default: null,
    help: "",
    unit: "",
    least: 0,
    most: 0,
    step: 1,
    choices: [],
    simulated_choices: [],
  };
  return { ...plain, fabrics: ["processes"], several: false, shown: true, ...fields };
}

export function row(verb: string, fields: Partial<Verb> = {}): Verb {
  return {
    verb,
    key: "",
    label: verb,
    does: "",
    counts: [1, 1],
    damages: false,
    drawn: false,
    locked: null,
    fabrics: ["processes"],
    alone: "",
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
