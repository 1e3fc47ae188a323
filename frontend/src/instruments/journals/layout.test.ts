import { describe, expect, it } from "vitest";
import type { Journals } from "../../api/schema";
import { blocksOf, columnsOf, heightOf, layout, tickStep } from "./layout";

const DATA: Journals = {
  group: "g1",
  commit_sn: 105,
  barriers: [
    [103, "monday"],
    [99_999, "later"],
  ],
  first_sn: 100,
  last_sn: 109,
  servers: [
    {
      name: "mds1",
      cells: [
        [100, 103, 1, "a"],
        [104, 105, 2, "c"],
        [106, 109, 2, "p"],
      ],
    },
    {
      name: "mds2",
      cells: [
        [100, 102, 1, "a"],
        [103, 109, 0, "x"],
      ],
    },
  ],
};

const REM = 10;
const SIZE = { width: 1000, height: 0, rem: REM };

describe("journals layout", () => {
  it("lets rows grow with the canvas, within bounds", () => {
    const { least, most } = heightOf(DATA.servers.length);
    const rowAt = (height: number) =>
      layout(DATA, [100, 109], { ...SIZE, height: height * REM }).rows[0]?.height;
    expect(rowAt(least)).toBe(rowAt(0));
    expect(rowAt((least + most) / 2)).toBeGreaterThan(rowAt(least) ?? 0);
    expect(rowAt(most * 2)).toBe(rowAt(most));
  });

  it("frames the columns of barriers that are in view", () => {
    const { barriers, box } = layout(DATA, [100, 109], SIZE);
    expect(barriers).toEqual([expect.objectContaining({ name: "monday", x: box("mds1", 103)?.x })]);
  });

  it("gives each sn a column and finds it again by point", () => {
    const geometry = layout(DATA, [100, 109], SIZE);
    for (const server of ["mds1", "mds2"])
      for (let sn = 100; sn <= 109; sn += 1) {
        const box = geometry.box(server, sn);
        if (box === null) throw new Error("no box");
        expect(geometry.at(box.x + box.width / 2, box.y + 1)).toEqual({ server, sn });
      }
    expect(geometry.at(1, 1)).toBeNull();
    expect(geometry.box("mds1", 99)).toBeNull();
  });

  it("clips runs to the window and draws the commit line behind its group", () => {
    const geometry = layout(DATA, [102, 106], SIZE);
    expect(geometry.rows[0]?.runs.map(({ from_sn, to_sn }) => [from_sn, to_sn])).toEqual([
      [102, 103],
      [104, 105],
      [106, 106],
    ]);
    expect(geometry.commit_x).toBeCloseTo(geometry.left + 4 * geometry.cell);
  });

  it("bands epochs of the longest journal", () => {
    expect(layout(DATA, [100, 109], SIZE).epochs.map(({ epoch }) => epoch)).toEqual([1, 2]);
  });

  it("stacks a few groups and has one chosen of many", () => {
    const few = ["g1", "g2", "g3", "g4"];
    const many = [...few, "g5"];
    expect(blocksOf(few, "g2")).toEqual(few);
    expect(blocksOf(many, "g3")).toEqual(["g3"]);
    expect(blocksOf(many, null)).toEqual(["g1"]);
    expect(blocksOf(many, "g9")).toEqual(["g1"]);
    expect(blocksOf([], null)).toEqual([]);
  });

  it("keeps columns and ticks within bounds", () => {
    expect(columnsOf(1e6, 10, 0.1)).toBe(2000);
    expect(columnsOf(10, 10, 1)).toBe(4);
    expect(tickStep(100, 10)).toBe(10);
    expect(tickStep(7, 10)).toBe(1);
  });
});
