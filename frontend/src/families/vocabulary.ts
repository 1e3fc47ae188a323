/** The words of each family of protocols (backend/vocabulary.py), for the same things on the same instruments. */

import { type CellState, FAMILIES, type Vocabulary } from "../api/schema";

/** The terms of the family behind `--protocol`. */
export function vocabularyOf(protocol: string | undefined): Vocabulary {
  return FAMILIES[protocol as keyof typeof FAMILIES] ?? FAMILIES.mams;
}

/** A state of a journal cell in full. */
export function stateWords({ states }: Vocabulary, state: CellState): string {
  const [name, says] = states[state];
  return `${name} (${says})`;
}
