import { expect, it } from "vitest";
import type { FileBlock } from "../../api/schema";
import { formatBytes } from "../../ui/bytes";
import { healthWords, nodesOf, summary } from "./replicas";

function block(health: FileBlock["health"], replicas: FileBlock["replicas"]): FileBlock {
  return { number: "0001000000000007", stamp: 1, length: 65_536, health, replicas };
}

const WHOLE = block("whole", { dn2: "good", dn1: "good" });

it("names the data nodes in order, whatever they have", () => {
  expect(nodesOf([WHOLE, block("under", { dn3: "damaged" })], ["dn4"])).toEqual(["dn1", "dn2", "dn3", "dn4"]);
});

it("says what is wrong with a block, and nothing when nothing is", () => {
  expect(healthWords(WHOLE, 2)).toBe("");
  expect(healthWords(block("under", { dn1: "good", dn2: "damaged" }), 3)).toBe("only 1 of 3");
  expect(healthWords(block("missing", { dn1: "stale" }), 3)).toContain("missing");
  expect(healthWords(block("over", { dn1: "good", dn2: "good" }), 1)).toBe("2 where 1 suffice");
});

it("sums a file up", () => {
  const rest = {
    path: "/f",
    length: 131_072,
    replication: 3,
    block_size: 65_536,
    writing: false,
    more: false,
  };
  expect(summary({ ...rest, blocks: [WHOLE, WHOLE] })).toBe("131 kB in 2 blocks, 3 replicas each.");
  expect(summary({ ...rest, blocks: [WHOLE], more: true, replication: 1 })).toContain(
    "more than 1 blocks, 1 replica",
  );
  expect(summary({ ...rest, blocks: [], block_size: 0 })).toContain("Nothing has been written");
  expect(summary({ ...rest, blocks: [] })).toContain("No finished block");
});

it("writes bytes with three figures and a unit", () => {
  expect([0, 1, 812, 999, 1000, 71_870, 999_499, 999_999, 1_440_000, 5.46e9].map(formatBytes)).toEqual([
    "0 bytes",
    "1 byte",
    "812 bytes",
    "999 bytes",
    "1.00 kB",
    "71.9 kB",
    "999 kB",
    "1.00 MB",
    "1.44 MB",
    "5.46 GB",
  ]);
});
