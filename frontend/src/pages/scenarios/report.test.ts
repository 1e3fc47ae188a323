import { describe, expect, it } from "vitest";
import { outcomesOf } from "./report";

const OUTCOME = {
  name: "a",
  teaches: "b",
  paper: "",
  on: "simulated",
  seed: 1,
  scale: 1,
  held: true,
  verdicts: [{ expected: "failed_calls: 0", held: true, seen: "0" }],
  groups: [],
  started_ns: 0,
  ended_ns: 1e9,
  calls: 3,
  failed_calls: 0,
  longest_outage_ms: 2,
  invariants: [],
  timeline: [],
  story: [],
  steps: [{ number: 1, text: "at 1s: crash mds1", state: "done", at_ns: 1e9, why: "" }],
  curve: { bucket_ns: 5e8, ok: [1, 2], failed: [0, 0], outages: [[0, 5e8]] },
};

describe("a report", () => {
  it("is opened again, alone or several together", () => {
    expect(outcomesOf(JSON.stringify(OUTCOME))).toEqual([OUTCOME]);
    expect(outcomesOf(JSON.stringify([OUTCOME, OUTCOME]))).toHaveLength(2);
  });

  it("of a release before has neither steps nor a curve", () => {
    const { steps, curve, ...old } = OUTCOME;
    expect(outcomesOf(JSON.stringify(old))[0]).toMatchObject({ steps: [], curve: null });
  });

  it("is refused in one line when it is anything else", () => {
    for (const [text, says] of [
      ["{", "no JSON"],
      ["[]", "empty"],
      ["null", "no object"],
      ["{}", "name is no text"],
      [JSON.stringify({ ...OUTCOME, seed: "1" }), "seed is no number"],
      [JSON.stringify({ ...OUTCOME, verdicts: [{}] }), "verdicts"],
      [JSON.stringify({ ...OUTCOME, steps: [7] }), "steps"],
      [JSON.stringify({ ...OUTCOME, curve: { bucket_ns: 0 } }), "curve"],
      [JSON.stringify({ ...OUTCOME, story: [{}] }), "story"],
      [JSON.stringify({ ...OUTCOME, story: Array(200_000).fill("") }), "story"],
      [JSON.stringify({ ...OUTCOME, curve: { ...OUTCOME.curve, ok: Array(200_000).fill(1) } }), "curve"],
      [JSON.stringify({ ...OUTCOME, curve: { ...OUTCOME.curve, outages: [[]] } }), "curve"],
      [JSON.stringify(Array(101).fill(OUTCOME)), "more than 100 results"],
    ] as const)
      expect(() => outcomesOf(text)).toThrow(says);
  });
});
