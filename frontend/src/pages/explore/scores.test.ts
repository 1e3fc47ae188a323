import { describe, expect, it } from "vitest";
import type { BugScore, SearchedBug } from "../../api/schema";
import { ordered, scoreRows, seconds, summaryOf } from "./scores";

const bug = (name: string): SearchedBug => ({
  name,
  kind: "mutation",
  says: "",
  family: "mams",
  families: [],
});

const score = (part: Partial<BugScore>): BugScore => ({
  family: "mams",
  invariant: "no lost write",
  took_s: 1,
  seeds: 3,
  limit_s: 60,
  jobs: 2,
  version: "1.0",
  measured_at_s: 100,
  ...part,
});

const BUGS = ["slow", "missed", "quick", "new"].map(bug);
const SCORES = {
  slow: score({ took_s: 40, measured_at_s: 300 }),
  missed: score({ invariant: "", took_s: 10, limit_s: 10, version: "0.9" }),
  quick: score({ took_s: 0.2 }),
  gone: score({ took_s: 59 }),
};

describe("the scores", () => {
  it("have a row for each known bug, and none for a bug that is no more", () => {
    expect(scoreRows(BUGS, SCORES).map((row) => [row.bug.name, row.state, row.score?.took_s])).toEqual([
      ["slow", "found", 40],
      ["missed", "missed", 10],
      ["quick", "found", 0.2],
      ["new", "unmeasured", undefined],
    ]);
  });

  it("count only what was measured", () => {
    const summary = summaryOf(scoreRows(BUGS, SCORES));
    expect(summary.counts).toEqual({ found: 2, missed: 1, unmeasured: 1 });
    expect([summary.measured, summary.foundPercent, summary.slowest?.bug.name]).toEqual([3, 66, "slow"]);
    expect([summary.limits_s, summary.jobs, summary.versions]).toEqual([[10, 60], [2], ["0.9", "1.0"]]);
    expect(summary.measured_s).toEqual([100, 300]);
  });

  it("have no share where nothing was measured, and 100 % only where all were found", () => {
    const nothing = summaryOf(scoreRows(BUGS, {}));
    expect([nothing.measured, nothing.foundPercent, nothing.slowest]).toEqual([0, null, null]);
    const many = Array.from({ length: 300 }, (_, place) => bug(`bug_${place}`));
    const found = Object.fromEntries(many.map(({ name }) => [name, score({})]));
    expect(summaryOf(scoreRows(many, found)).foundPercent).toBe(100);
    const one = { ...found, bug_7: score({ invariant: "" }) };
    expect(summaryOf(scoreRows(many, one)).foundPercent).toBe(99);
  });

  it("come the hardest first, or by name", () => {
    const names = (order: "hardest" | "name") =>
      ordered(scoreRows(BUGS, SCORES), order).map((row) => row.bug.name);
    expect(names("hardest")).toEqual(["missed", "slow", "quick", "new"]);
    expect(names("name")).toEqual(["missed", "new", "quick", "slow"]);
  });

  it("have seconds with one digit", () => {
    expect([seconds(0.24), seconds(12.5), seconds(40)]).toEqual(["0.2 s", "12.5 s", "40.0 s"]);
  });
});
