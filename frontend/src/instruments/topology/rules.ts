/** Effects of the rules in force on links and reachability. */

import { t } from "@lingui/core/macro";
import { phrase, rowOf } from "../../actions/verbs";
import type { Direction, EnsembleServer, Fault, Link, MessageLine, Verb } from "../../api/schema";
import { COORDINATION, type LinkShape } from "./layout";

export interface LinkState {
  kind: "open" | "cut" | "harmed";
  /** Direction, seen from a to b. */
  direction: Direction;
  words: string;
}

const OPPOSITE: Record<Direction, Direction> = { both: "both", to: "from", from: "to" };
const OPEN: LinkState = { kind: "open", direction: "both", words: "" };

/** The rules on the link between a and b, turned so that `to` is from a to b. */
export function rulesOn(links: readonly Link[], a: string, b: string): Link[] {
  const found: Link[] = [];
  for (const link of links) {
    if ((link.a === a && link.b === b) || (link.b === "*" && link.a === a)) found.push(link);
    else if ((link.a === b && link.b === a) || (link.b === "*" && link.a === b))
      found.push({ ...link, direction: OPPOSITE[link.direction] });
  }
  return found;
}

export function stateOf(links: readonly Link[], a: string, b: string): LinkState {
  const rules = rulesOn(links, a, b);
  const cuts = rules.filter(({ rule }) => rule === "cut");
  if (cuts.length > 0) {
    const ways = new Set(cuts.map(({ direction }) => direction));
    const direction = ways.has("both") || ways.size > 1 ? "both" : (cuts[0] as Link).direction;
    return { kind: "cut", direction, words: t`cut` };
  }
  const [first] = rules;
  if (first === undefined) return OPEN;
  return {
    kind: "harmed",
    direction: first.direction,
    words: [...new Set(rules.map(({ rule }) => rule))].join(", "),
  };
}

/** Faults between servers and an ensemble, as rules on the servers' links to coordination: cut when all of its servers are cut, else impaired. */
export function gathered(
  links: readonly Link[],
  ensemble: readonly string[],
  others: readonly string[],
): Link[] {
  const kept: Link[] = [];
  const found = new Map<string, { link: Link; names: string[] }>();
  const take = (other: string, name: string, direction: Direction, rule: string): void => {
    const key = [other, direction, rule].join(" ");
    const known = found.get(key) ?? { link: { a: other, b: COORDINATION, direction, rule }, names: [] };
    if (!known.names.includes(name)) known.names.push(name);
    found.set(key, known);
  };
  for (const link of links) {
    const { a, b, direction, rule } = link;
    if (ensemble.includes(a) && ensemble.includes(b)) continue;
    if (ensemble.includes(b)) take(a, b, direction, rule);
    else if (ensemble.includes(a))
      for (const other of b === "*" ? others : [b]) take(other, a, OPPOSITE[direction], rule);
    else kept.push(link);
  }
  for (const { link, names } of found.values())
    kept.push(
      names.length === ensemble.length ? link : { ...link, rule: `${link.rule}: ${names.join(", ")}` },
    );
  return kept;
}

/** Whether a quorum of the ensemble serves. */
export function hasQuorum(servers: readonly EnsembleServer[]): boolean {
  const serving = servers.filter(
    ({ role, process }) => process === "running" && (role === "leader" || role === "follower"),
  );
  return serving.length > servers.length / 2;
}

/** Servers without a path to coordination, over links that are not cut in both directions. */
export function adriftOf(
  links: readonly Link[],
  servers: readonly string[],
  clients: readonly string[],
): Set<string> {
  const adrift = new Set(servers);
  if (!links.some(({ rule }) => rule === "cut")) return new Set();
  const waiting: string[] = [COORDINATION];
  const reached = new Set(waiting);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    adrift.delete(name);
    for (const other of [...servers, ...clients]) {
      const linked = !(name === COORDINATION && clients.includes(other));
      if (reached.has(other) || !linked || cutBothWays(links, name, other)) continue;
      reached.add(other);
      waiting.push(other);
    }
  }
  return adrift;
}

function cutBothWays(links: readonly Link[], a: string, b: string): boolean {
  const { kind, direction } = stateOf(links, a, b);
  return kind === "cut" && direction === "both";
}

/** The rules that the faults of a past moment made; the events do not show a link healed out of a larger cut. */
export function linksOfFaults(
  faults: readonly Fault[],
  everybody: readonly string[],
  verbs: readonly Verb[],
): Link[] {
  return faults.flatMap((fault) => {
    const verb = rowOf(verbs, fault.verb);
    if (!verb?.rule) return [];
    const rule = phrase(verb.rule, verb, fault.targets, fault.options);
    const direction = (fault.options.direction as Direction | undefined) ?? "both";
    const [a = "", b] = fault.targets;
    if (b === undefined && a === COORDINATION)
      return everybody.map((name) => ({ a: COORDINATION, b: name, direction, rule }));
    if (b === undefined) return [{ a, b: "*", direction, rule }];
    if (fault.options.island !== true) return [{ a, b, direction, rule }];
    const others = [...everybody, COORDINATION].filter((name) => !fault.targets.includes(name));
    return fault.targets.flatMap((name) => others.map((other) => ({ a: name, b: other, direction, rule })));
  });
}

export function keyOf({ a, b }: { a: string; b: string }): string {
  return `${a} ${b}`;
}

/** Keys of the bridges that carried a message at or after `since_ns`; `lines` are in order of time. */
export function carrying(
  bridges: readonly LinkShape[],
  lines: readonly MessageLine[],
  since_ns: number,
): string[] {
  const recent = new Set<string>();
  for (const [from, to, , at_ns] of lines) if (at_ns >= since_ns) recent.add(`${from} ${to}`);
  return bridges.filter(({ a, b }) => recent.has(`${a} ${b}`) || recent.has(`${b} ${a}`)).map(keyOf);
}
