import { describe, expect, it } from "vitest";
import { MARGIN, marks, place, plot } from "./plot";

describe("a plot", () => {
  it("draws all curves on the same axes, with gaps where nothing returned", () => {
    const made = plot(
      [
        { values: [10, 20], bucket_ns: 1e9 },
        { values: [null, 40, null, 40], bucket_ns: 5e8 },
      ],
      2,
      400,
      100,
    );
    const [first = "", second = ""] = made.paths;
    expect(first.match(/[ML]/g)).toEqual(["M", "L"]);
    expect(second.match(/M/g)).toHaveLength(2);
    expect(made.yTicks.at(-1)?.text).toBe("40");
    expect(made.yTicks.at(-1)?.at).toBeCloseTo(MARGIN.top);
  });

  it("gives each power of ten the same room on a logarithmic axis", () => {
    const made = plot([{ values: [0.5, 900], bucket_ns: 1e9 }], 2, 400, 100, "log");
    expect(made.yTicks.map(({ text }) => text)).toEqual(["0.1", "1", "10", "100", "1000"]);
    const [, one = 0, ten = 0, hundred = 0] = made.yTicks.map(({ at }) => at);
    expect(one - ten).toBeCloseTo(ten - hundred);
  });

  it("stands with nothing to show", () => {
    expect(plot([{ values: [], bucket_ns: 1e9 }], 1, 400, 100).paths).toEqual([""]);
  });

  it("puts the ends of the run at the ends of the axis", () => {
    expect(place(0, 30, 400)).toBe(MARGIN.left);
    expect(place(30, 30, 400)).toBe(400 - MARGIN.right);
  });
});

describe("the marks of faults", () => {
  it("name the fault where there is room", () => {
    const faults = [
      [10e9, "crash", ["mds1"]],
      [10.2e9, "crash", ["mds2"]],
      [20e9, "power_loss", ["mds3"]],
      [30e9, "crash", ["mds1"]],
    ] as const;
    const made = marks(faults, 30, 400);
    expect(made.map(({ verb }) => verb)).toEqual(["crash", "", "power loss", ""]);
    expect(made.map(({ what }) => what)).toEqual([
      "crash mds1",
      "crash mds2",
      "power_loss mds3",
      "crash mds1",
    ]);
    expect(made.at(-1)?.at).toBe(400 - MARGIN.right);
  });
});
