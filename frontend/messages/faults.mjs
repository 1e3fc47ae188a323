/** What a catalogue lacks, and what it has too much. */

import { compileMessage } from "@lingui/message-utils/compileMessage";

/** Names of the values and tags in a message. */
function partsOf(text) {
  const names = new Set();
  const walk = (part) => {
    if (typeof part === "string") for (const [tag] of part.matchAll(/<\/?\w+\/?>/g)) names.add(tag);
    else if (Array.isArray(part)) {
      names.add(part[0]);
      for (const option of Object.values(part[2] ?? {})) [option].flat(1).forEach(walk);
    }
  };
  [compileMessage(text)].flat(1).forEach(walk);
  return [...names].sort().join(" ");
}

function wrongIn(message, known, isSource) {
  if (known === undefined) return "not in the catalogue";
  if (isSource) return "";
  const translation = (known.translation ?? "").trim();
  if (translation === "") return "no translation";
  return partsOf(translation) === partsOf(message) ? "" : "other placeholders";
}

/** One line for each fault of a catalogue. `source` has the messages of the source by their ids. */
export function faultsOf(source, catalogue, isSource) {
  const wrong = Object.entries(source)
    .map(([id, message]) => [wrongIn(message, catalogue[id], isSource), message])
    .filter(([fault]) => fault !== "");
  const old = Object.entries(catalogue)
    .filter(([id]) => source[id] === undefined)
    .map(([id, { message }]) => ["no longer in the source", message ?? id]);
  return [...wrong, ...old].map(([fault, message]) => `${fault}: ${message}`);
}
