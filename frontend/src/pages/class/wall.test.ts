import { describe, expect, it } from "vitest";
import type { Tile } from "../../api/schema";
import { attentionFirst, doing, linkOf, seen, summary } from "./wall";

const TILE: Tile = {
  id: "1",
  name: "Ada",
  away_s: 0,
  absent: false,
  stuck: "",
  passed: [],
  verdicts: [],
  lab: "",
  phase: "",
  run_s: 0,
  steps: [],
  cluster: null,
};
const STEPS: Tile["steps"] = [
  { id: "how-long", state: "answered", answer: "5" },
  { id: "crash", state: "passed", answer: "" },
];

describe("the wall", () => {
  it("has who is stuck first and who is away last", () => {
    const tiles = [
      { ...TILE, name: "Bob" },
      { ...TILE, name: "Cy", stuck: "no step for 4 minutes" },
      { ...TILE, name: "Di", absent: true, stuck: "no step for 90 minutes" },
      TILE,
    ];
    expect(attentionFirst(tiles).map(({ name }) => name)).toEqual(["Cy", "Ada", "Bob", "Di"]);
    expect(summary(tiles)).toBe("4 students, 1 stuck, 1 away");
  });

  it("says what each does", () => {
    const tile = { ...TILE, lab: "why-wait", steps: STEPS };
    expect(doing(TILE)).toBe("has no cluster now");
    expect(doing({ ...tile, phase: "predict" })).toBe("why-wait: predicting");
    expect(doing({ ...tile, phase: "run", run_s: 12.9 })).toBe("why-wait: running for 12 s, 1 of 2 steps");
    expect(doing({ ...tile, phase: "over" })).toBe("why-wait: 1 of 2 steps passed");
  });

  it("says how long somebody is away", () => {
    expect(seen(TILE)).toBe("");
    expect(seen({ ...TILE, absent: true, away_s: 61 })).toBe("away for 1 min");
    expect(seen({ ...TILE, absent: true, away_s: 90_000 })).toBe("away for 25 h");
  });

  it("makes the link of a student where students join", () => {
    expect(linkOf("https://lab.example.org/join", "k-1_2")).toBe("https://lab.example.org/labs?key=k-1_2");
  });
});
