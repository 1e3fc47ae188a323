import { describe, expect, it } from "vitest";
import type { Fault } from "../api/schema";
import { option, row } from "../testing/verbs";
import { endingsOf, faultWords, marksOf } from "./inForce";

const VERBS = [
  row("slow_disk", {
    label: "Slow disk",
    options: [option({ name: "ms", type: "number", default: 100, unit: "ms" })],
    undo: { verb: "slow_disk", options: { ms: 0 } },
    done: "Slowed {targets} by {ms} ms",
  }),
  row("fail_disk", { label: "Failing disk", undo: { verb: "fail_disk", options: { on: false } } }),
  row("crash", { leaves: "stopped", undo: { verb: "restart", options: {} } }),
  row("cut", {
    rule: "cut",
    options: [option({ name: "island", type: "switch", several: true })],
    undo: { verb: "heal", options: {} },
  }),
];
const fault = (verb: string, targets: string[], options: object = {}): Fault => ({
  fault: 1,
  verb,
  targets,
  options: { ...options },
  at_ns: 0,
});

describe("the faults in force", () => {
  it("are marks on the cards of servers that run with them", () => {
    const faults = [
      fault("slow_disk", ["mds1"], { ms: 250 }),
      fault("fail_disk", ["mds1", "mds2"]),
      fault("crash", ["mds3"]),
      fault("cut", ["mds1", "mds2"]),
    ];
    expect(marksOf(VERBS, faults)).toEqual({ mds1: "Slow disk 250 ms, Failing disk", mds2: "Failing disk" });
  });

  it("have words, and an end where there is one", () => {
    const slow = fault("slow_disk", ["mds1"], { ms: 250 });
    expect(faultWords(VERBS, slow)).toBe("Slowed mds1 by 250 ms");
    expect(endingsOf(VERBS, slow)).toEqual([{ verb: "slow_disk", targets: ["mds1"], options: { ms: 0 } }]);
    expect(endingsOf(VERBS, fault("unknown", ["mds1"]))).toEqual([]);
  });

  it("of an island end server by server", () => {
    const island = fault("cut", ["mds1", "mds2"], { island: true });
    expect(endingsOf(VERBS, island).map(({ targets }) => targets)).toEqual([["mds1"], ["mds2"]]);
  });
});
