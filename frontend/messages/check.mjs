/**
 * Compares the catalogues with the messages of the source.
 *
 * `node messages/check.mjs` fails when a message is in no catalogue or has no translation, when a catalogue has
 * a message that the source no longer has, or when a translation lacks a placeholder. With `--write` it first
 * writes the messages of the source to the catalogues, and keeps the translations of those that stay.
 */

import { fileURLToPath } from "node:url";
import { getCatalogs } from "@lingui/cli/api";
import { getConfig } from "@lingui/conf";
import { compileMessage } from "@lingui/message-utils/compileMessage";

const config = getConfig({ cwd: fileURLToPath(new URL("..", import.meta.url)) });
const [catalog] = await getCatalogs(config);
const found = await catalog.collect();
if (found === undefined) throw new Error("the source cannot be read");
const source = new Map(Object.entries(found).map(([id, { message }]) => [id, message ?? id]));

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

function* faultsOf(locale, messages) {
  for (const [id, message] of source) {
    const known = messages[id];
    if (known === undefined) yield `not in the catalogue: ${message}`;
    else if (locale === config.sourceLocale) continue;
    else if ((known.translation ?? "").trim() === "") yield `no translation: ${message}`;
    else if (known.extra?.flags?.includes("fuzzy")) yield `only a guess: ${message}`;
    else if (partsOf(known.translation) !== partsOf(message))
      yield `other placeholders: ${message} / ${known.translation}`;
  }
  for (const [id, { message }] of Object.entries(messages))
    if (!source.has(id)) yield `no longer in the source: ${message ?? id}`;
}

if (process.argv.includes("--write")) await catalog.make({ clean: true, orderBy: config.orderBy });

let failed = false;
for (const locale of config.locales) {
  const messages = (await catalog.read(locale)) ?? {};
  for (const fault of faultsOf(locale, messages)) {
    console.log(`${locale}: ${fault}`);
    failed = true;
  }
}
if (failed) console.log("npm run messages writes new messages to the catalogues and drops old ones");
else console.log(`${source.size} messages, complete in ${config.locales.join(", ")}`);
process.exitCode = failed ? 1 : 0;
