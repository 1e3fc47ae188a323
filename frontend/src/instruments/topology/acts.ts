/** Which acts a menu offers for what is pointed at, and why some cannot be done now. */

import type { Act } from "../../actions/VerbList";
import type { Link, Process, Server, Verb } from "../../api/types";
import { leads } from "../../families/roles";
import { rulesOn } from "./rules";

const NEEDS_RUNNING = new Set(["crash", "stop", "power_loss", "expire_session", "slow_disk", "fail_disk"]);

/** Verbs that only metadata servers know. */
const OF_METADATA = new Set(["expire_session", "force"]);

function processRefusal(verb: string, name: string, process: Process): string {
  if (verb === "restart") return process === "stopped" ? "" : `${name} runs: crash or stop it first`;
  if (verb === "resume") return process === "paused" ? "" : `${name} is not paused`;
  if (verb === "pause") return process === "running" ? "" : `${name} does not run`;
  if (verb === "force") return process === "running" ? "" : `${name} does not run`;
  if (NEEDS_RUNNING.has(verb)) return process === "stopped" ? `${name} does not run` : "";
  return "";
}

export function serverActs(
  verbs: readonly Verb[],
  server: Pick<Server, "name" | "process" | "role" | "group">,
  links: readonly Link[],
): Act[] {
  const harmed = links.some(({ a, b }) => a === server.name || b === server.name);
  const acts: Act[] = [];
  for (const verb of verbs) {
    if (verb.targets === "server") {
      const impossible = processRefusal(verb.verb, server.name, server.process);
      acts.push({ verb, targets: [server.name], impossible });
    } else if (verb.verb === "cut")
      acts.push({ verb, targets: [server.name], label: "Cut off from everybody", impossible: "" });
    else if (verb.verb === "heal")
      acts.push({
        verb,
        targets: [server.name],
        label: "Heal its links",
        impossible: harmed ? "" : `no link of ${server.name} is harmed`,
      });
    else if (verb.targets === "group" && verb.verb === "take_lock" && leads(server.role))
      acts.push({ verb, targets: [server.group], label: `Take the lock of ${server.group}`, impossible: "" });
  }
  return acts;
}

/** A data node or journal node has no session, no role and no group. */
export function nodeActs(
  verbs: readonly Verb[],
  node: Pick<Server, "name" | "process">,
  links: readonly Link[],
): Act[] {
  const own = verbs.filter(({ verb, targets }) => targets !== "group" && !OF_METADATA.has(verb));
  return serverActs(own, { name: node.name, process: node.process, role: "standby", group: "" }, links);
}

export function linkActs(verbs: readonly Verb[], a: string, b: string, links: readonly Link[]): Act[] {
  const harmed = rulesOn(links, a, b).length > 0;
  return verbs
    .filter(({ targets }) => targets === "link")
    .map((verb) => ({
      verb,
      targets: [a, b],
      impossible: verb.verb === "heal" && !harmed ? "nothing is wrong with this link" : "",
    }));
}

export function groupActs(verbs: readonly Verb[], group: string): Act[] {
  return verbs
    .filter(({ targets }) => targets === "group" || targets === "cluster")
    .map((verb) => ({ verb, targets: verb.targets === "group" ? [group] : [], impossible: "" }));
}

/** Coordination and clients are processes as well: what a server's verbs can do to them. */
export function processActs(verbs: readonly Verb[], name: string, process: Process, own: string[]): Act[] {
  return verbs
    .filter(({ verb }) => own.includes(verb))
    .map((verb) => ({ verb, targets: [name], impossible: processRefusal(verb.verb, name, process) }));
}
