import { describe, expect, it } from "vitest";
import type { Entry } from "../../api/schema";
import { above, type Dir, extended, joined, moved, nameOf, parentOf, ROOT, rowsOf, within } from "./tree";

function entry(name: string, kind: Entry["kind"] = "directory", home = "g1"): Entry {
  const rest = { entries: 0, length: 0, mode: 0o755, owner: "clover", mtime_ns: 0 };
  return { name, kind, home, branch_point: home !== "g1", ...rest };
}

function read(entries: Entry[], more = false): Dir {
  return { read: { home: "g1", entries, more }, asking: false, failed: "" };
}

const DIRS = {
  "/": read([entry("a"), entry("b", "file"), entry("c", "directory", "g2")]),
  "/a": read([entry("x")], true),
  "/a/x": read([]),
  "/c": { read: null, asking: false, failed: "ETIMEDOUT: no answer" },
};

const ids = (opened: string[]): string[] => rowsOf(DIRS, new Set(opened)).map(({ id }) => id);

describe("paths", () => {
  it("take apart what was joined", () => {
    for (const [parent, name] of [
      ["/", "a"],
      ["/a", "b c"],
      ["/a/b", "~"],
    ] as const) {
      expect(parentOf(joined(parent, name))).toBe(parent);
      expect(nameOf(joined(parent, name))).toBe(name);
    }
    expect(above("/a/b/c")).toEqual(["/", "/a", "/a/b"]);
    expect(above(ROOT)).toEqual([]);
    expect([within("/a/b", "/a"), within("/ab", "/a"), within("/a", "/"), within("/a", "/a")]).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });
});

describe("rows", () => {
  it("shows what stands open, and nothing below what is closed", () => {
    expect(ids([])).toEqual(["/"]);
    expect(ids(["/a", "/a/x"])).toEqual(["/"]);
    expect(ids(["/"])).toEqual(["/", "/a", "/b", "/c"]);
    expect(ids(["/", "/a"])).toEqual(["/", "/a", "/a/x", "/a\0more", "/b", "/c"]);
  });

  it("says that a directory is empty, is being read or could not be read", () => {
    const kinds = (opened: string[]): string[] => rowsOf(DIRS, new Set(opened)).map(({ kind }) => kind);
    expect(kinds(["/", "/a", "/a/x"])).toContain("empty");
    expect(kinds(["/", "/c"])).toContain("failed");
    expect(rowsOf({}, new Set(["/"])).at(-1)).toMatchObject({ kind: "asking", path: "/" });
  });

  it("knows a file, and which names lead to another group", () => {
    const rows = rowsOf(DIRS, new Set(["/"]));
    expect(rows.find(({ id }) => id === "/b")).toMatchObject({ open: null });
    expect(rows.find(({ id }) => id === "/c")).toMatchObject({ home: "g2", entry: { branch_point: true } });
  });
});

describe("arrow keys", () => {
  const rows = rowsOf(DIRS, new Set(["/", "/a", "/c"]));

  it("go down and up through all that can be pointed at", () => {
    const seen = [ROOT];
    for (let step = 0; step < 10; step += 1) seen.push(moved(rows, seen.at(-1) ?? ROOT, "ArrowDown"));
    expect([...new Set(seen)]).toEqual(["/", "/a", "/a/x", "/a\0more", "/b", "/c", "/c\0failed"]);
    expect(moved(rows, "/a/x", "ArrowUp")).toBe("/a");
    expect(moved(rows, "/b", "Home")).toBe("/");
    expect(moved(rows, "/", "End")).toBe("/c\0failed");
  });

  it("go in and out", () => {
    expect(moved(rows, "/a", "ArrowRight")).toBe("/a/x");
    expect(moved(rows, "/b", "ArrowRight")).toBe("/b");
    expect(moved(rows, "/a/x", "ArrowLeft")).toBe("/a");
    expect(moved(rows, "/a\0more", "ArrowLeft")).toBe("/a");
    expect(moved(rows, "/", "ArrowLeft")).toBe("/");
    expect(moved(rows, "/gone", "ArrowDown")).toBe("/a");
  });
});

it("puts more names behind those that are known, or in their place", () => {
  const known = read([entry("a")], true).read;
  const came = { path: "/", home: "g1", entries: [entry("b")], more: false };
  expect(extended(known, came, false)?.entries.map(({ name }) => name)).toEqual(["a", "b"]);
  expect(extended(known, came, true)?.entries.map(({ name }) => name)).toEqual(["b"]);
  expect(extended(null, came, false)?.more).toBe(false);
});
