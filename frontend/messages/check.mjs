/**
 * Compares the catalogues with the messages of the source.
 *
 * Fails when a message is in no catalogue or has no translation, when a translation has other placeholders, or
 * when the source no longer has a message. With `--write` the messages of the source are written to the
 * catalogues first; translations of those that stay are kept.
 */

import { fileURLToPath } from "node:url";
import { getCatalogs } from "@lingui/cli/api";
import { getConfig } from "@lingui/conf";
import { faultsOf } from "./faults.mjs";

const config = getConfig({ cwd: fileURLToPath(new URL("..", import.meta.url)) });
const [catalog] = await getCatalogs(config);
const found = await catalog.collect();
if (found === undefined) throw new Error("the messages of the source cannot be read");
const source = Object.fromEntries(Object.entries(found).map(([id, { message }]) => [id, message ?? id]));
if (process.argv.includes("--write")) await catalog.make({ clean: true, orderBy: config.orderBy });

let failed = false;
for (const locale of config.locales) {
  const messages = (await catalog.read(locale)) ?? {};
  for (const fault of faultsOf(source, messages, locale === config.sourceLocale)) {
    console.log(`${locale}: ${fault}`);
    failed = true;
  }
}
if (failed) console.log("`npm run messages` writes new messages to the catalogues and drops old ones.");
else console.log(`${Object.keys(source).length} messages, complete in ${config.locales.join(" and ")}`);
process.exitCode = failed ? 1 : 0;
