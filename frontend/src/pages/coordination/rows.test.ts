import { describe, expect, it } from "vitest";
import type { ExplainedChange, LabEvent, TreeView, WatchedNode } from "../../api/schema";
import { fieldsOf, LATELY_MS, locksOf, newestByPath, readAgain, splitPath, UNREAD } from "./rows";

const LOCK = "/cloverlab/groups/g1/lock";

function node(path: string, change: Partial<WatchedNode> = {}): WatchedNode {
  return { path, data: "", version: 0, session: "", owner: "", cut: 0, watchers: [], ...change };
}

function view(...nodes: WatchedNode[]): TreeView {
  return {
    nodes,
    left_out: 0,
    sessions: [],
    sessions_left_out: 0,
    sessions_known: true,
    watches_known: true,
  };
}

function change(path: string, kind = "LockHeld", seq = 1): ExplainedChange {
  const event = { seq, kind, says: "" } as unknown as LabEvent;
  return { event, path, causes: [], skipped: 0, beyond: "" };
}

describe("a reading of the tree", () => {
  it("shows nothing as changed at first", () => {
    expect(readAgain(UNREAD, view(node("/a")), 0).noticed.size).toBe(0);
  });

  it("notices new versions, new nodes and new owners, for a while", () => {
    const first = readAgain(UNREAD, view(node("/a"), node("/b"), node("/c", { session: "0x1" })), 0);
    const now = view(node("/a", { version: 1 }), node("/b"), node("/c", { session: "0x2" }), node("/d"));
    const second = readAgain(first, now, 1_000);
    expect([...second.noticed.keys()]).toEqual(["/a", "/c", "/d"]);
    expect([...readAgain(second, now, LATELY_MS).noticed.keys()]).toEqual(["/a", "/c", "/d"]);
    expect(readAgain(second, now, LATELY_MS + 1_000).noticed.size).toBe(0);
  });

  it("forgets an earlier failure", () => {
    expect(readAgain({ ...UNREAD, failed: "no answer" }, view(), 0).failed).toBe("");
  });
});

describe("the data of a node", () => {
  it("are the fields of its object without the writer's cause", () => {
    const data =
      '{"state":"active","epoch":2,"members":["mds1","mds2"],"disks":{"mds1":7,"mds2":9},"left":[],"barriers":{"g1":[4,9]},"cause":["mds1",7]}';
    expect(fieldsOf(data)).toEqual([
      ["state", "active"],
      ["epoch", "2"],
      ["members", "mds1, mds2"],
      ["disks", "mds1 7, mds2 9"],
      ["left", "–"],
      ["barriers", '{"g1":[4,9]}'],
    ]);
  });

  it("stay text where they are no whole object", () => {
    for (const data of ["", "mams-1a3s", '{"cut', "[1]", "7"]) expect(fieldsOf(data)).toBeNull();
  });
});

describe("a lock", () => {
  const others = ["/cloverlab/groups/g1/epoch", "/cloverlab/groups/g10/lock"].map((path) => change(path));

  it("has the holder of the tree and its newest change", () => {
    const changes = [...others, change(LOCK, "LockHeld", 9), change(LOCK, "LockHeld", 5)];
    const nodes = [node(LOCK, { data: '{"owner":"mds2"}' })];
    expect(locksOf(["g1"], nodes, changes)).toEqual([{ group: "g1", holder: "mds2", change: changes[2] }]);
  });

  it("is free while its node is gone", () => {
    const free = change(LOCK);
    expect(locksOf(["g1"], [], [free])).toEqual([{ group: "g1", holder: "", change: free }]);
  });

  it("is none in a group that never had one, which has its newest change", () => {
    expect(locksOf(["g1"], [], others)).toEqual([{ group: "g1", holder: null, change: others[0] }]);
  });
});

it("finds the newest change of each node", () => {
  const changes = [change(LOCK, "LockHeld", 9), change("/b", "Placed", 7), change(LOCK, "LockHeld", 5)];
  const newest = newestByPath({ changes, left_out: 0 });
  expect([newest.get(LOCK)?.event.seq, newest.get("/b")?.event.seq]).toEqual([9, 7]);
});

it("splits a path before its name", () => {
  expect(splitPath("/a/b")).toEqual(["/a/", "b"]);
  expect(splitPath("/")).toEqual(["/", ""]);
});
