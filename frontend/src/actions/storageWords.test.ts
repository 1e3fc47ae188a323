import { expect, it } from "vitest";
import type { LabEvent } from "../api/types";
import { tellsAStory, told } from "./words";

const IMAGE = "000000-0000000001-00000000000000000416-829ec90c";

function event(kind: string, fields: object): LabEvent {
  return { seq: 1, server: "mds2", boot: 1, number: 1, at_ns: 1, cause: 0, kind, ...fields } as LabEvent;
}

it("tells repairs as whole phrases, and only their end as a story", () => {
  const repair = { file: `${IMAGE}.p03`, source: "mds1", began: 512, size: 1000 };
  const end = event("Repairing", { ...repair, offset: 1000 });
  expect(told(end)).toBe("mds2 repaired p03 of the image at sn 416 from mds1, from octet 512 on");
  const way = event("Repairing", { ...repair, offset: 600 });
  expect(told(way)).toContain("600 octets of 1.00 kB");
  expect([tellsAStory(end), tellsAStory(way)]).toEqual([true, false]);
});

it("tells what differs and what is done about it", () => {
  const found = { node: "mds3", remedy: "recover", reason: "it is not there" };
  const image = event("ReplicasDisagree", { ...found, file: `image/${IMAGE}.manifest` });
  expect(told(image)).toBe("manifest of the image at sn 416 on mds3: it is not there; it is repaired");
  expect(tellsAStory(image)).toBe(true);
  expect(tellsAStory(event("ReplicasDisagree", { ...found, file: "journal" }))).toBe(false);
});

it("tells barriers, outcomes and goings back", () => {
  expect(told(event("BarrierWritten", { group: "g1", name: "monday", sn: 1438 }))).toBe(
    "g1 wrote the barrier of monday at sn 1,438",
  );
  expect(told(event("CheckpointOutcome", { name: "monday", outcome: "void" }))).toBe(
    "checkpoint monday is void",
  );
  const back = { checkpoint: "monday", incarnation: 1, operations: 12, sn: 1438 };
  expect(told(event("TakenBack", back))).toContain("12 operations set aside");
  expect(told(event("TakenBack", { ...back, sn: 0 }))).toContain("begins incarnation 1 anew");
});

it("tells what a data node set aside", () => {
  const aside = { group: "g1", incarnation: 1, blocks: 3, octets: 2048 };
  expect(told(event("BlocksSetAside", aside))).toContain("went back with g1: 3 blocks set aside, 2.05 kB");
});

it("tells of blocks by their short numbers, and a missing one as a story", () => {
  const missing = event("BlockHealth", { block: "1000000000007", health: "missing", holders: [] });
  expect(told(missing)).toBe("block 0001·7 is missing: no data node that lives has it");
  expect(tellsAStory(missing)).toBe(true);
  const under = event("BlockHealth", { block: "1000000000007", health: "under", holders: ["dn1", "dn3"] });
  expect(told(under)).toContain("too few replicas: dn1 and dn3");
  const freed = event("BlockHealth", { block: "1000000000007", health: "freed", holders: [] });
  expect(told(freed)).toBe("block 0001·7 is in no file any more");
  expect([under, event("NodeHolds", {}), event("ReplicaStored", {})].map(tellsAStory)).toEqual([
    false,
    false,
    false,
  ]);
});
