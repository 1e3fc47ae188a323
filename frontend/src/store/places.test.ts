import { beforeEach, describe, expect, it } from "vitest";
import { type Geometry, layout, type Scene } from "../instruments/topology/layout";
import { layoutOf, reset, shift, shiftsOf, usePlaces } from "./places";

const SERVERS = ["mds1", "mds2", "mds3"];
const HERE = layoutOf(SERVERS);
const REM = 16;
const scene = (adrift: string[] = []): Scene => ({
  groups: [{ name: "g1", servers: SERVERS }],
  clients: ["client1"],
  adrift: new Set(adrift),
  shifts: shiftsOf(usePlaces.getState().of, HERE),
});
const placed = (adrift: string[] = []): Geometry => layout(scene(adrift), 1200, REM);

beforeEach(() => reset(HERE));

describe("dragged cards", () => {
  it("stay where they were dropped, for this set of servers only", () => {
    const before = placed().cards.mds2;
    shift(HERE, "mds2", { x: 2, y: 1 });
    shift(HERE, "mds2", { x: 1, y: 0 });
    expect(placed().cards.mds2?.x).toBe((before?.x ?? 0) + 3 * REM);
    expect(placed().cards.mds2?.y).toBe((before?.y ?? 0) + REM);
    expect(shiftsOf(usePlaces.getState().of, layoutOf(["mds1"]))).toEqual({});
    reset(HERE);
    expect(placed().cards.mds2).toEqual(before);
  });

  it("take their links along", () => {
    const link = () => placed().links.find(({ a, b }) => a === "mds1" && b === "mds2")?.curve[3].y;
    const before = link() ?? 0;
    shift(HERE, "mds2", { x: 0, y: 1 });
    expect(link()).not.toBe(before);
  });

  it("never leave the stage, and on the island have their places there", () => {
    shift(HERE, "mds3", { x: 500, y: 500 });
    const { cards, island, height } = placed();
    expect((cards.mds3?.x ?? 0) + (cards.mds3?.width ?? 0)).toBeLessThanOrEqual(island.x);
    expect((cards.mds3?.y ?? 0) + (cards.mds3?.height ?? 0)).toBeLessThanOrEqual(height);
    expect(placed(["mds3"]).cards.mds3?.x).toBeGreaterThanOrEqual(island.x);
  });
});
