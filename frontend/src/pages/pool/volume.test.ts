import { describe, expect, it } from "vitest";
import type { Pool, Replica } from "../../api/schema";
import { agoWords, besides, cellAt, rowsOf, SIGN, spotOf, TONE } from "./volume";

const IMAGE = "000000-0000000001-00000000000000000416-829ec90c";
const OLDER = "000000-0000000001-00000000000000000200-11111111";

function replica(change: Partial<Replica> = {}): Replica {
  const rest = { reason: "", behind_by: 0, source: "", began: 0, offset: 0 };
  return {
    size: 1000,
    valid: 1000,
    checksum: 7,
    epoch: 1,
    first_sn: 0,
    last_sn: 416,
    state: "agrees",
    ...rest,
    ...change,
  };
}

function image(name: string, whole: string[]) {
  return { name, sn: 416, size: 2000, partitions: 2, writer: "mds3", took_ms: 218, whole, refused: {} };
}

function node(name: string, change = {}) {
  return { name, reported_ns: 5, files: 4, size: 9, refused: "", renewal: null, faulted: "", ...change };
}

function pool(change: Partial<Pool> = {}): Pool {
  const both = () => ({ mds1: replica(), mds2: replica() });
  return {
    group: "g1",
    nodes: { mds1: node("mds1"), mds2: node("mds2"), mds3: node("mds3", { reported_ns: 0 }) },
    images: { [OLDER]: image(OLDER, []), [IMAGE]: image(IMAGE, ["mds1", "mds2"]) },
    files: {
      journal: both(),
      [`image/${IMAGE}.manifest`]: both(),
      [`image/${IMAGE}.p00`]: both(),
      [`image/${IMAGE}.p01`]: both(),
    },
    ...change,
  };
}

/** The pool with this one replica of p01, on mds2. */
function withPart(change: Partial<Replica>): Pool {
  const reported = pool();
  const file = reported.files[`image/${IMAGE}.p01`];
  if (file !== undefined) file.mds2 = replica(change);
  return reported;
}

const cell = (reported: Pool, name: string, row = IMAGE) =>
  rowsOf(reported).find(({ id }) => id === row)?.cells[name];

describe("rows", () => {
  it("put the journal first and the newest image before the older ones", () => {
    expect(rowsOf(pool()).map(({ id, newest }) => [id, newest])).toEqual([
      ["journal", false],
      [IMAGE, true],
      [OLDER, false],
    ]);
  });

  it("tell who is believed, who has nothing and who has said nothing", () => {
    expect(cell(pool(), "mds1")).toMatchObject({ state: "agrees", words: "believed" });
    expect(cell(pool(), "mds1")?.parts.map(({ name }) => name)).toEqual(["p00", "p01", "manifest"]);
    expect(cell(pool(), "mds1", OLDER)?.state).toBe("absent");
    expect(cell(pool(), "mds3")?.state).toBe("unknown");
    expect(cell(pool(), "mds3", "journal")?.state).toBe("unknown");
  });

  it("name the damaged part and where, then how far its repair is", () => {
    const damaged = { valid: 512, state: "damaged" as const, reason: "it is damaged behind byte 512" };
    expect(cell(withPart(damaged), "mds2")).toMatchObject({ state: "damaged", words: "p01 bad at 512" });
    expect(cell(withPart({ ...damaged, size: 0, valid: 0 }), "mds2")?.words).toBe("p01 missing");
    const repairing = { state: "repairing" as const, offset: 250, valid: 250 };
    expect(cell(withPart(repairing), "mds2")).toMatchObject({ state: "repairing", share: 0.25 });
    expect(cell(withPart(repairing), "mds2")?.words).toBe("p01: 250 bytes of 1.00 kB");
    expect(cell(withPart({ state: "repaired" }), "mds2")?.state).toBe("repaired");
    expect(cell(withPart(damaged), "mds1")?.state).toBe("agrees");
  });

  it("mark what a person has damaged, in the newest image only", () => {
    const reported = pool();
    reported.nodes.mds1 = node("mds1", { faulted: "image" });
    expect(cell(reported, "mds1")?.state).toBe("faulted");
    expect(cell(reported, "mds1", OLDER)?.state).toBe("absent");
    expect(cell(reported, "mds1", "journal")?.state).toBe("agrees");
  });

  it("count how far a journal is behind", () => {
    const words = (behind_by: number): string | undefined => {
      const reported = pool();
      const found = reported.files.journal?.mds1;
      if (found !== undefined) Object.assign(found, { state: "behind", behind_by });
      return cell(reported, "mds1", "journal")?.words;
    };
    expect(words(1003)).toBe("1,003 behind");
    expect(words(0)).toBe("behind");
  });

  it("know an image that was only shelved, and one that was refused", () => {
    const shelved = pool({ files: {} });
    expect(cell(shelved, "mds1")).toMatchObject({ state: "whole", parts: [] });
    const refused = pool();
    refused.images[IMAGE] = { ...image(IMAGE, ["mds1"]), refused: { mds2: "partition 1 is damaged" } };
    expect(cell(refused, "mds2")?.state).toBe("damaged");
  });

  it("give every state a sign and a tone, and no two bad ones the good sign", () => {
    for (const state of Object.keys(SIGN) as (keyof typeof SIGN)[])
      expect(SIGN[state] === "✓").toBe(["held", "mended"].includes(TONE[state]));
  });
});

describe("the cell that is pointed at", () => {
  const rows = ["journal", IMAGE];
  const nodes = ["mds1", "mds2"];

  it("goes with the arrows and stops at the border", () => {
    let at = { row: "journal", node: "mds1" };
    for (const key of ["ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown"])
      at = besides(rows, nodes, at, key);
    expect(at).toEqual({ row: IMAGE, node: "mds2" });
    expect(besides(rows, nodes, at, "Home")).toEqual({ row: IMAGE, node: "mds1" });
    expect(besides(rows, nodes, { row: "gone", node: "gone" }, "ArrowUp")).toEqual({
      row: "journal",
      node: "mds1",
    });
  });

  it("is written in the address and found again", () => {
    expect(cellAt(spotOf("g1", "mds1", IMAGE))).toEqual({ group: "g1", node: "mds1", row: IMAGE });
    for (const text of ["", "g1", "g1/mds1", "//"]) expect(cellAt(text)).toBeNull();
  });
});

it("says how long ago a report came", () => {
  expect([0, 12, 200, 9000].map(agoWords)).toEqual(["just now", "12 s ago", "3 min ago", "3 h ago"]);
});
