import { describe, expect, it } from "vitest";
import type { Link } from "../../api/schema";
import { row } from "../../testing/verbs";
import { groupActs, linkActs, processActs, serverActs } from "./acts";

const VERBS = [
  row("crash", { targets: ["server", "data_node"], states: ["running", "paused"] }),
  row("restart", { targets: ["server", "data_node"], states: ["stopped"] }),
  row("resume", { states: ["paused"] }),
  row("cut", { targets: ["link", "server"], label_one: "Cut off from all others" }),
  row("delay", { targets: ["link"] }),
  row("heal", { targets: ["link", "links", "server"], label_one: "Heal its links", mends: true }),
  row("heal_all", { targets: ["cluster"] }),
  row("take_lock", { targets: ["group"], label_one: "Take the lock of {targets}", unseats: true }),
];
const LINK: Link = { a: "mds1", b: "mds2", direction: "both", rule: "cut" };
const MDS1 = { name: "mds1", process: "running", role: "active", group: "g1" } as const;

describe("what a menu offers", () => {
  it("is what the table says of this kind of process", () => {
    const acts = processActs(VERBS, "data_node", { name: "dn1", process: "stopped" }, []);
    expect(acts.map(({ verb, impossible }) => [verb.verb, impossible])).toEqual([
      ["crash", "dn1 does not run"],
      ["restart", ""],
    ]);
  });

  it("says why something cannot be done now", () => {
    const why = (verb: string, links: Link[] = []): string | undefined =>
      serverActs(VERBS, MDS1, links).find((act) => act.verb.verb === verb)?.impossible;
    expect(why("restart")).toBe("mds1 runs: crash or stop it first");
    expect(why("resume")).toBe("mds1 is not paused");
    expect(why("heal")).toBe("no link of mds1 is harmed");
    expect(why("heal", [LINK])).toBe("");
    expect(linkActs(VERBS, "mds1", "mds3", [LINK]).at(-1)?.impossible).toBe(
      "nothing is wrong with this link",
    );
  });

  it("offers the lock of the group at its leader alone", () => {
    const labels = (role: "active" | "standby"): (string | undefined)[] =>
      serverActs(VERBS, { ...MDS1, role }, []).map(({ label }) => label);
    expect(labels("active")).toContain("Take the lock of g1");
    expect(labels("standby")).not.toContain("Take the lock of g1");
    expect(groupActs(VERBS, "g1").map(({ verb, targets }) => [verb.verb, ...targets])).toEqual([
      ["heal_all"],
      ["take_lock", "g1"],
    ]);
  });
});
