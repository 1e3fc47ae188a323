import { expect, it } from "vitest";
import type { Journals } from "../../api/schema";
import { operationWords, readerOf } from "./useOperations";

const DATA: Journals = {
  group: "g1",
  commit_sn: 9,
  first_sn: 1,
  last_sn: 12,
  barriers: [],
  servers: [
    {
      name: "mds1",
      cells: [
        [1, 9, 1, "a"],
        [10, 12, 1, "p"],
      ],
    },
    { name: "mds2", cells: [[1, 9, 1, "a"]] },
  ],
};

it("says the first operations of a journal group, and how many there are beside them", () => {
  const made = ["a", "b", "c", "d"].map((name) => ({
    kind: "MakeRecord",
    op_id: ["c", 1],
    parent: 1,
    names: ["d", name],
  }));
  expect(operationWords(made.slice(0, 1))).toBe("make d/a");
  expect(operationWords(made)).toBe("make d/a, make d/b, make d/c and 1 more");
  expect(operationWords([])).toBe("no operation");
});

it("asks another server about a stopped one only where both have the same committed group", () => {
  const running = new Set(["mds2"]);
  expect(readerOf(DATA, "mds1", 5, running)).toBe("mds2");
  expect(readerOf(DATA, "mds1", 11, running)).toBe("");
  expect(readerOf(DATA, "mds2", 5, running)).toBe("mds2");
  expect(readerOf(DATA, "mds2", 11, running)).toBe("");
});
