import { expect, it } from "vitest";
import type { ViewMark } from "../../api/schema";
import { changeWords, viewChanges, viewsOf } from "./viewChanges";

const view = (number: number, at_ns: number, ...members: string[]): ViewMark => ({
  group: "g1",
  number,
  members,
  at_ns,
});
const VIEWS = [
  view(0, 0, "mds1", "mds2", "mds3"),
  view(1, 10, "mds1", "mds2", "mds3"),
  view(2, 20, "mds1", "mds2"),
  view(3, 30, "mds1", "mds2"),
  view(4, 40, "mds2", "mds3"),
];

it("tells who came and who left with each view", () => {
  expect(viewChanges(viewsOf(VIEWS, false), 0).map(changeWords)).toEqual([
    "mds1, mds2, mds3 begin",
    "mds3 left",
    "no member joined or left",
    "mds1 left, mds3 came in",
  ]);
});

it("compares with the view before the stretch without telling of it", () => {
  expect(viewChanges(VIEWS, 15).map(({ number, left }) => [number, left])).toEqual([
    [2, ["mds3"]],
    [3, []],
    [4, ["mds1"]],
  ]);
});

it("has none where one server leads", () => {
  expect(viewsOf(VIEWS, true)).toEqual([]);
});
