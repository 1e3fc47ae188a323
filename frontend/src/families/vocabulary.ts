/** The words of each family of protocols (backend/vocabulary.py), for the same things on the same instruments. */

import { i18n } from "@lingui/core";
import { type CellState, FAMILIES, type Vocabulary } from "../api/schema";

type States = Vocabulary["states"];

const translated = new Map<string, Vocabulary>();

/** The terms of the family behind `--protocol`: protocol words as they are, explanations in the page's language. */
export function vocabularyOf(protocol: string | undefined): Vocabulary {
  const words: Vocabulary = FAMILIES[protocol as keyof typeof FAMILIES] ?? FAMILIES.mams;
  const name = `${i18n.locale} ${words.called}`;
  const known = translated.get(name) ?? inLanguage(words);
  translated.set(name, known);
  return known;
}

function inLanguage(words: Vocabulary): Vocabulary {
  const said = (text: string): string => (text === "" ? "" : i18n._(text));
  const { says, states, messages } = words;
  return {
    ...words,
    says: { term: said(says.term), place: said(says.place) },
    states: Object.fromEntries(
      Object.entries(states).map(([state, texts]) => [state, texts.map(said)]),
    ) as unknown as States,
    settled: said(words.settled),
    election: said(words.election),
    elected: said(words.elected),
    begins: said(words.begins),
    messages: {
      takeover: said(messages.takeover),
      renewing: said(messages.renewing),
      view: said(messages.view),
    },
  };
}

/** A state of a journal cell in full. */
export function stateWords({ states }: Vocabulary, state: CellState): string {
  const [name, says] = states[state];
  return `${name} (${says})`;
}
