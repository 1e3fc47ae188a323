/** The verbs that a menu offers for its target, and why some are impossible now. */

import { t } from "@lingui/core/macro";
import type { Act } from "../../actions/VerbList";
import { phrase } from "../../actions/verbs";
import type { Link, Process, Server, Verb } from "../../api/schema";
import { leads } from "../../families/roles";
import { rulesOn } from "./rules";

/** Reason why the verb cannot target a process in this state; empty when it can. */
function processRefusal({ states }: Verb, name: string, process: Process): string {
  if (states.length === 0 || states.includes(process)) return "";
  if (states.includes("running")) return t`${name} does not run`;
  return states.includes("paused") ? t`${name} is not paused` : t`${name} runs: crash or stop it first`;
}

/** Verbs for one process of a kind. */
export function processActs(
  verbs: readonly Verb[],
  kind: string,
  { name, process }: Pick<Server, "name" | "process">,
  links: readonly Link[],
): Act[] {
  const harmed = links.some(({ a, b }) => a === name || b === name);
  return verbs
    .filter(({ targets }) => targets.includes(kind))
    .map((verb) => {
      const act = { verb, targets: [name], impossible: processRefusal(verb, name, process) };
      if (!verb.targets.includes("link")) return act;
      const impossible = verb.mends && !harmed ? t`no link of ${name} is harmed` : "";
      return { ...act, label: verb.label_one, impossible };
    });
}

/** Verbs for a leader, with those that unseat the leader of its group. */
export function serverActs(
  verbs: readonly Verb[],
  server: Pick<Server, "name" | "process" | "role" | "group">,
  links: readonly Link[],
): Act[] {
  const targets = [server.group];
  const unseating = verbs.filter((verb) => verb.unseats && verb.targets.includes("group"));
  const acts = unseating.map((verb) => ({
    verb,
    targets,
    label: phrase(verb.label_one, verb, targets),
    impossible: "",
  }));
  return [...processActs(verbs, "server", server, links), ...(leads(server.role) ? acts : [])];
}

export function linkActs(verbs: readonly Verb[], a: string, b: string, links: readonly Link[]): Act[] {
  const harmed = rulesOn(links, a, b).length > 0;
  return verbs
    .filter(({ targets }) => targets.includes("link"))
    .map((verb) => ({
      verb,
      targets: [a, b],
      impossible: verb.mends && !harmed ? t`nothing is wrong with this link` : "",
    }));
}

export function groupActs(verbs: readonly Verb[], group: string): Act[] {
  return verbs
    .filter(({ targets }) => targets.includes("group") || targets.includes("cluster"))
    .map((verb) => ({ verb, targets: verb.targets.includes("group") ? [group] : [], impossible: "" }));
}
