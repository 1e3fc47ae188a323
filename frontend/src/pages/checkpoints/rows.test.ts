import { describe, expect, it } from "vitest";
import type { Checkpoint, CheckpointStory, Marking } from "../../api/schema";
import { consequence } from "./RecoverDialog";
import { asideBlocks, asideRows, newestOf, pauseMs, reachedMs, rowsOf, wrongName } from "./rows";

const MS = 1e6;

function checkpoint(name: string, state: Checkpoint["state"]): Checkpoint {
  const barriers = { g1: { sn: 10, epoch: 1, digest: "0" }, g2: { sn: 20, epoch: 1, digest: "0" } };
  const stamp_ns = state === "void" ? 0 : 5 * MS;
  return { name, number: 1, state, incarnation: 0, time_server: "mds1", stamp_ns, barriers };
}

function marking(name: string, change: Partial<Marking> = {}): Marking {
  const part = { drain_ns: 2 * MS, drained_ns: 3 * MS, written_ns: 0, resumed_ns: 0, sn: 0 };
  const groups = { g1: { ...part }, g2: { ...part, drained_ns: 0 } };
  return { name, time_server: "mds1", began_ns: MS, ended_ns: 0, outcome: "", reason: "", groups, ...change };
}

const story = (...markings: Marking[]): CheckpointStory => ({ markings, recoveries: [] });

describe("checkpoints", () => {
  it("stand with the newest first, and what is being marked before them", () => {
    const rows = rowsOf([checkpoint("a", "complete"), checkpoint("b", "aside")], story(marking("c")));
    expect(rows.map(({ name, state }) => [name, state])).toEqual([
      ["c", "marking"],
      ["b", "aside"],
      ["a", "complete"],
    ]);
    expect(rows[2]).toMatchObject({ time_ms: 5, barriers: { g1: 10, g2: 20 }, reason: "" });
    expect(rows[1]?.reason).toContain("restored an earlier one");
  });

  it("say why one is void, and name no barrier of it", () => {
    const reported = marking("v", { outcome: "void", reason: "g2 did not drain in time" });
    expect(rowsOf([checkpoint("v", "void")], story(reported))).toMatchObject([
      { state: "void", reason: "g2 did not drain in time", barriers: {}, time_ms: null },
    ]);
    expect(rowsOf([checkpoint("v", "void")], story())[0]?.reason).toBe("the reason was not kept");
  });

  it("show one row while it is marked and when it is decided", () => {
    expect(rowsOf([checkpoint("a", "complete")], story(marking("a"))).length).toBe(1);
  });
});

describe("a marking", () => {
  it("tells when each step was reached since it began", () => {
    expect(reachedMs(MS, 3.5 * MS)).toBe(2.5);
    expect(reachedMs(MS, 0)).toBeNull();
    expect(newestOf(story(marking("a"), marking("b", { began_ns: 9 })))?.name).toBe("a");
    expect(newestOf(story())).toBeNull();
  });

  it("tells the longest pause once all have resumed", () => {
    const reported = marking("a");
    expect(pauseMs(reported)).toBeNull();
    for (const part of Object.values(reported.groups)) part.resumed_ns = 12 * MS;
    expect(pauseMs(reported)).toBe(10);
    expect(pauseMs(marking("a", { groups: {} }))).toBeNull();
  });
});

it("lists what was set aside by group and server", () => {
  const part = { groups: 3, operations: 2, at_ns: 1 };
  const servers = {
    mds4: { ...part, group: "g2", sn: 0 },
    mds2: { ...part, group: "g1", sn: 10 },
    mds1: { ...part, group: "g1", sn: 10 },
  };
  const rows = asideRows({ incarnation: 1, checkpoint: "a", servers, data_nodes: {} });
  expect(rows.map(({ server, sn }) => [server, sn])).toEqual([
    ["mds1", 10],
    ["mds2", 10],
    ["mds4", null],
  ]);
});

it("says what data nodes set aside", () => {
  const data_nodes = { dn2: { blocks: 0, size: 0 }, dn1: { blocks: 4, size: 2048 } };
  expect(asideBlocks({ incarnation: 1, checkpoint: "a", servers: {}, data_nodes })).toBe(
    "dn1: 4 blocks, 2.05 kB. dn2: 0 blocks, 0 bytes.",
  );
});

it("takes a name as the servers take it, once", () => {
  expect(wrongName("Before_lab-2.1", ["other"])).toBe("");
  for (const name of ["", "a b", "ä", "x".repeat(64)]) expect(wrongName(name, [])).toContain("1 to 63");
  expect(wrongName("monday", ["monday"])).toContain("given once");
});

it("says before a recovery what it sets aside", () => {
  expect(consequence({ name: "monday", operations: 1200, groups: 2000 })).toBe(
    "Quarantines 1,200 operations in 2,000 journal groups: everything after monday.",
  );
  expect(consequence({ name: "m", operations: 1, groups: 1 })).toContain("1 operation in");
});
