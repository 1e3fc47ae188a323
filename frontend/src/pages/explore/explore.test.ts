import { describe, expect, it } from "vitest";
import type { FailureRow, Search, SearchChoices } from "../../api/schema";
import { coverageOf, plot, rateOf } from "./course";
import { clock, groupsOf, shareOf, subjectOf } from "./groups";
import { familiesOf, proposal, requestOf, withBug } from "./wish";

const choices: SearchChoices = {
  families: [
    { name: "mams", says: "" },
    { name: "symmetric", says: "" },
  ],
  bugs: [
    { name: "late_watch", kind: "hole", says: "", family: "mams", families: ["mams"] },
    { name: "ack_of_gap", kind: "mutation", says: "", family: "mams", families: ["mams", "symmetric"] },
  ],
  jobs: 2,
  jobs_max: 4,
};

describe("the wish", () => {
  it("is sent with what was chosen, and no more", () => {
    const wish = proposal(choices);
    expect(requestOf(wish)).toEqual({ minutes: 2, jobs: 2 });
    expect(requestOf({ ...withBug(wish, choices, "late_watch"), unit: "seeds", first: 7 })).toEqual({
      seeds: 200,
      first_seed: 7,
      jobs: 2,
      family: "mams",
      bug: "late_watch",
    });
  });

  it("offers the families that can have the bug", () => {
    expect(familiesOf(choices, "")).toEqual(["mams", "symmetric"]);
    expect(familiesOf(choices, "late_watch")).toEqual(["mams"]);
    expect(withBug(withBug(proposal(choices), choices, "late_watch"), choices, "").bug).toBe("");
  });
});

const course = [
  { at_s: 0, seeds: 0, coverage: 0 },
  { at_s: 1, seeds: 4, coverage: 10 },
  { at_s: 2, seeds: 12, coverage: 30 },
  { at_s: 4, seeds: 16, coverage: 31 },
];

describe("the course", () => {
  it("has the rate between points that are far enough apart", () => {
    expect(rateOf(course)).toEqual([
      { at_s: 2, value: 6 },
      { at_s: 4, value: 2 },
    ]);
    expect(rateOf([])).toEqual([]);
  });

  it("is drawn from the left edge to the right one", () => {
    const { path, xTicks, yTicks } = plot(coverageOf(course), 400, 130);
    expect(path.startsWith("M46,108")).toBe(true);
    expect(path).toContain("L386,");
    expect(xTicks.at(-1)?.text).toBe("4 s");
    expect(yTicks.map(({ text }) => text)).toContain("20");
    expect(plot([], 400, 130).path).toBe("");
    expect(plot([{ at_s: 600, value: 1 }], 400, 130).xTicks.at(-1)?.text).toMatch(/min$/);
  });
});

const row = (number: number, invariant: string, part: Partial<FailureRow>): FailureRow => ({
  number,
  family: "mams",
  invariant,
  place: "",
  count: 1,
  explanation: "",
  faults: 1,
  calls: 1,
  state: "found",
  trials: 0,
  note: "",
  ...part,
});

describe("failures", () => {
  it("are grouped by invariant, the most frequent first and the smallest schedule on top", () => {
    const found = groupsOf([
      row(1, "dense journal", { count: 2 }),
      row(2, "no lost write", { count: 3, calls: 9 }),
      row(3, "no lost write", { calls: 4 }),
    ]);
    expect(found.map(({ invariant, count }) => [invariant, count])).toEqual([
      ["no lost write", 4],
      ["dense journal", 2],
    ]);
    expect(found[0]?.rows.map(({ number }) => number)).toEqual([3, 2]);
  });
});

describe("a search in words", () => {
  const search = {
    state: "running",
    family: null,
    bug: null,
    minutes: 2,
    seeds_asked: null,
    first_seed: 5,
    seeds: 30,
    took_s: 60,
  } as Search;

  it("says its subject", () => {
    expect(subjectOf(search)).toBe("all families in turn, safe, 2 minutes");
    const seeds = { ...search, minutes: null, seeds_asked: 10, family: "mams", bug: "late_watch" };
    expect(subjectOf(seeds)).toBe("mams, with late_watch, seeds 5 to 14");
  });

  it("says how far it is", () => {
    expect(shareOf(search)).toBe(0.5);
    expect(shareOf({ ...search, minutes: null, seeds_asked: 40 })).toBe(0.75);
    expect(shareOf({ ...search, state: "stopped" })).toBe(1);
    expect([clock(65), clock(3_723)]).toEqual(["1:05", "1:02:03"]);
  });
});
