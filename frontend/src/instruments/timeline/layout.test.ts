import { describe, expect, it } from "vitest";
import type { Timeline } from "../../api/schema";
import { axisTimes, heightOf, layout, runsOf } from "./layout";

const S = 1_000_000_000;
const DATA: Timeline = {
  from_ns: 10 * S,
  to_ns: 20 * S,
  bucket_ns: S,
  ok: [50, 50, 50, 0, 0, 0, 40, 50, 50, 50],
  failed: [0, 0, 0, 2, 0, 0, 0, 0, 0, 0],
  p50_ms: [1, 1, 1, null, null, null, 2, 1, 1, 1],
  p99_ms: [3, 3, 3, null, null, null, 3000, 3, 3, 3],
  bands: [
    {
      server: "mds1",
      group: "g1",
      spans: [
        { from_ns: 0, to_ns: 13 * S, letter: "A" },
        { from_ns: 13 * S, to_ns: 99 * S, letter: "-" },
      ],
    },
  ],
  faults: [
    { fault: 1, verb: "crash", targets: ["mds1"], at_ns: 13 * S, ended_ns: null },
    { fault: 2, verb: "crash", targets: ["mds2"], at_ns: 13 * S, ended_ns: 15 * S },
    { fault: 3, verb: "cut", targets: ["mds3"], at_ns: 30 * S, ended_ns: null },
  ],
  views: [],
  barriers: [
    { name: "monday", at_ns: 14 * S, groups: ["g1"] },
    { name: "earlier", at_ns: 2 * S, groups: ["g1"] },
  ],
  failovers: [],
};

describe("timeline layout", () => {
  const geometry = layout(DATA, 0, 1000, 10);

  it("finds a moment again by its place", () => {
    expect(geometry.at(geometry.x(14 * S))).toBeCloseTo(14 * S, -3);
    expect(geometry.at(-50)).toBeCloseTo(10 * S, -3);
  });

  it("breaks the latency line where nothing was answered", () => {
    expect(geometry.latency.p50).toHaveLength(2);
    expect(runsOf([1, null, 2], (value) => [value, value])).toEqual([[[1, 1]], [[2, 2]]]);
  });

  it("clips bands to the window and leaves out faults of other times", () => {
    const [band] = geometry.bands;
    expect(band?.spans[0]?.x).toBe(geometry.plot.x);
    expect(geometry.faults).toHaveLength(2);
  });

  it("marks the checkpoints that are in view", () => {
    expect(geometry.barriers).toEqual([{ x: geometry.x(14 * S), text: "monday" }]);
  });

  it("puts the name of each group over its bands, and none over a single group", () => {
    const band = (server: string, group: string) => ({ server, group, spans: [] });
    const bands = [band("mds1", "g1"), band("mds2", "g1"), band("mds3", "g2")];
    const several = layout({ ...DATA, bands }, 0, 1000, 10);
    expect(several.groups.map(({ name }) => name)).toEqual(["g1", "g2"]);
    const places = [...several.groups, ...several.bands].map(({ y, height }) => [y, y + height] as const);
    places.sort(([a], [b]) => a - b);
    for (const [index, [y]] of places.slice(1).entries())
      expect(y).toBeGreaterThanOrEqual(places[index]?.[1] ?? 0);
    expect(several.plot.height).toBeLessThanOrEqual(heightOf(bands) * 10);
    expect(geometry.groups).toEqual([]);
    expect(heightOf(bands) - heightOf(bands.slice(0, 2))).toBeGreaterThan(3);
  });

  it("puts flags that would overlap into different rows", () => {
    expect(new Set(geometry.faults.map(({ row }) => row)).size).toBe(2);
  });

  it("counts the axis from the start of the run", () => {
    expect(axisTimes(3 * S, 13 * S, 3 * S, 5)[0]).toBe(3 * S);
  });
});
