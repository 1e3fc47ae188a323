import { describe, expect, it } from "vitest";
import { consequence } from "./ActDialog";
import { actOfKey, targetOf } from "./acts";
import { modeWords } from "./Details";

describe("what an act will do", () => {
  const of = { act: "delete", path: "/a", home: "g2" } as const;

  it("names the object, what goes with it and its home", () => {
    expect(consequence({ ...of, directory: false, entries: 0 })).toContain("the file /a of g2");
    expect(consequence({ ...of, directory: true, entries: 0 })).toContain("the empty directory /a");
    expect(consequence({ ...of, directory: true, entries: 1200 })).toContain(
      "1,200 names in it and everything",
    );
    for (const entries of [0, 5])
      expect(consequence({ ...of, directory: true, entries })).toContain("cannot be undone");
  });

  it("makes a directory where one stands, not in a file", () => {
    const rest = { entries: 3, length: 0, mode: 0, owner: "", mtime_ns: 0 };
    const entries = [
      { ...rest, name: "d", kind: "directory" as const, home: "g2", branch_point: true },
      { ...rest, name: "f", kind: "file" as const, home: "g1", branch_point: false },
    ];
    const dirs = { "/": { read: { home: "g1", entries, more: false }, asking: false, failed: "" } };
    expect(targetOf("make", "/d", dirs)).toMatchObject({ path: "/d", home: "g2" });
    expect(targetOf("make", "/f", dirs)).toMatchObject({ path: "/", home: "g1" });
    expect(targetOf("delete", "/f", dirs)).toMatchObject({ path: "/f", directory: false });
    expect(targetOf("make", "/", dirs)).toMatchObject({ path: "/", home: "g1" });
  });

  it("is begun by its key", () => {
    expect(["n", "M", "F2", "Delete", "x"].map(actOfKey)).toEqual([
      "make",
      "rename",
      "rename",
      "delete",
      null,
    ]);
  });

  it("writes a mode as everybody knows it", () => {
    expect(modeWords(0o755)).toBe("rwxr-xr-x");
    expect(modeWords(0o600)).toBe("rw-------");
  });
});
