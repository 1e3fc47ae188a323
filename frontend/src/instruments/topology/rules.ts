/** What the rules in force mean for links and for who reaches whom. */

import type { Direction, Link } from "../../api/types";
import { COORDINATION } from "./layout";

export interface LinkState {
  kind: "open" | "cut" | "harmed";
  /** In which direction, seen from a to b. */
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
    return { kind: "cut", direction, words: "cut" };
  }
  const [first] = rules;
  if (first === undefined) return OPEN;
  return {
    kind: "harmed",
    direction: first.direction,
    words: [...new Set(rules.map(({ rule }) => rule))].join(", "),
  };
}

/** Servers from which no way leads to coordination, over whatever links are not cut both ways. */
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
