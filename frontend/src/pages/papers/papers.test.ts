import { describe, expect, it } from "vitest";
import { amount, sharesOf } from "./figures";
import { changeOf } from "./load";
import { isPaperCluster, shownAddress } from "./names";

describe("figures", () => {
  it("have four digits, and a dash where they are not known", () => {
    expect([1.31, 135_601, 0.0387, 22.784_96, 0, -0.031].map(amount)).toEqual([
      "1.31",
      "135,600",
      "0.0387",
      "22.78",
      "0",
      "-0.031",
    ]);
    expect(amount(1e15)).toBe("1.00e+15");
    expect(amount(0.000_12)).toBe("1.20e-4");
    expect(amount(null)).toBe("–");
  });

  it("are bars on one scale in a row", () => {
    expect(sharesOf({ theirs: 2, ours: 1 })).toEqual({ theirs: 1, ours: 0.5 });
    expect(sharesOf({ theirs: 4, ours: null })).toEqual({ theirs: 1, ours: 0 });
    expect(sharesOf({ theirs: 0, ours: -1 })).toEqual({ theirs: 0, ours: 0 });
  });
});

describe("a mechanism's cluster", () => {
  it("is named by its page's address", () => {
    const cluster = { name: "paper-0a", paper: "cfs", mechanism: "election", settled: true, trouble: "" };
    expect(shownAddress(cluster)).toBe("/papers/cfs/election?cluster=paper-0a");
    expect(["main", "paper-0a", "lab-0a"].map(isPaperCluster)).toEqual([false, true, false]);
  });

  it("keeps the part of the load that a button does not name", () => {
    expect(changeOf({ rate_per_s: 80, paused: null })).toEqual({ rate_per_s: 80 });
    expect(changeOf({ rate_per_s: null, paused: false })).toEqual({ paused: false });
  });
});
