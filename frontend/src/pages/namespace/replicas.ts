/** The blocks of a file in words; pure. */

import type { FileBlock, FileBlocks } from "../../api/schema";
import { count } from "../../store/time";
import { formatBytes } from "../../ui/bytes";
import type { Tone } from "../../ui/Sign";

type Replica = FileBlock["replicas"][string] | "none";

export const REPLICA: Record<Replica, { tone: Tone; sign: string; meaning: string }> = {
  good: { tone: "held", sign: "✓", meaning: "good" },
  stale: { tone: "waiting", sign: "◔", meaning: "stale: of another stamp or length" },
  writing: { tone: "waiting", sign: "↻", meaning: "being written" },
  damaged: { tone: "broken", sign: "✕", meaning: "damaged" },
  none: { tone: "none", sign: "–", meaning: "nothing" },
};

/** All data nodes, and other nodes with a replica of the file, ordered by name. */
export function nodesOf(blocks: readonly FileBlock[], all: readonly string[]): string[] {
  return [...new Set([...all, ...blocks.flatMap(({ replicas }) => Object.keys(replicas))])].sort();
}

/** "12 blocks, 786 kB, 3 replicas each." */
export function summary({ blocks, length, replication, more, block_size }: FileBlocks): string {
  if (block_size === 0) return "Nothing has been written to it.";
  if (blocks.length === 0) return "No finished block yet.";
  const many = more
    ? `more than ${count(blocks.length)} blocks`
    : blocks.length === 1
      ? "1 block"
      : `${count(blocks.length)} blocks`;
  return `${formatBytes(length)} in ${many}, ${replication === 1 ? "1 replica" : `${replication} replicas`} each.`;
}

/** Defect of a block; empty for a whole one. */
export function healthWords({ health, replicas }: FileBlock, replication: number): string {
  const good = Object.values(replicas).filter((each) => each === "good").length;
  if (health === "missing") return "missing: no live data node has it";
  if (health === "under") return `only ${good} of ${replication}`;
  return health === "over" ? `${good} where ${replication} suffice` : "";
}
