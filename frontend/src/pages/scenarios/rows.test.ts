import { describe, expect, it } from "vitest";
import type { ScenarioRow } from "../../api/schema";
import { byFolder, found, whereOf } from "./rows";

function row(file: string, change: Partial<ScenarioRow> = {}): ScenarioRow {
  return {
    file,
    folder: file.split("/")[0] ?? "",
    name: file,
    teaches: "",
    paper: "",
    protocol: "mams",
    families: ["mams"],
    fabrics: ["simulated", "processes", "containers"],
    steps: 1,
    variants: 1,
    error: "",
    ...change,
  };
}

describe("the list of scenarios", () => {
  const rows = [
    row("zoo/one"),
    row("groups/rename-storm", { teaches: "Renames survive a crash" }),
    row("faults/calm", { paper: "CFS §4.2" }),
  ];

  it("is grouped by folder, known ones first", () => {
    expect(byFolder(rows).map(({ title }) => title)).toEqual([
      "Faults in one group",
      "Several groups",
      "zoo",
    ]);
  });

  it("is searched by every word, in any order and in any text", () => {
    expect(found(rows, " crash  RENAMES").map(({ file }) => file)).toEqual(["groups/rename-storm"]);
    expect(found(rows, "cfs").map(({ file }) => file)).toEqual(["faults/calm"]);
    expect(found(rows, "")).toHaveLength(3);
    expect(found(rows, "crash nothing")).toEqual([]);
  });

  it("says where a scenario can run", () => {
    const all = ["a", "b", "c", "d", "e"];
    expect(whereOf(row("a/b", { families: all }), all)).toBe("every family");
    expect(whereOf(row("a/b", { families: all.slice(1) }), all)).toBe("every family but a");
    expect(whereOf(row("a/b", { families: ["a"], fabrics: ["simulated"] }), all)).toBe("a · simulator only");
  });
});
