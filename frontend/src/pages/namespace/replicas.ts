/** The blocks of a file in words; pure. */

import type { MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import type { FileBlock, FileBlocks } from "../../api/schema";
import { count } from "../../store/time";
import { formatBytes } from "../../ui/bytes";
import type { Tone } from "../../ui/Sign";

type Replica = FileBlock["replicas"][string] | "none";

export const REPLICA: Record<Replica, { tone: Tone; sign: string; meaning: MessageDescriptor }> = {
  good: { tone: "held", sign: "✓", meaning: msg`good` },
  stale: { tone: "waiting", sign: "◔", meaning: msg`stale: of another stamp or length` },
  writing: { tone: "waiting", sign: "↻", meaning: msg`being written` },
  damaged: { tone: "broken", sign: "✕", meaning: msg`damaged` },
  none: { tone: "none", sign: "–", meaning: msg`nothing` },
};

/** All data nodes, and other nodes with a replica of the file, ordered by name. */
export function nodesOf(blocks: readonly FileBlock[], all: readonly string[]): string[] {
  return [...new Set([...all, ...blocks.flatMap(({ replicas }) => Object.keys(replicas))])].sort();
}

/** "12 blocks, 786 kB, 3 replicas each." */
export function summary({ blocks, length, replication, more, block_size }: FileBlocks): string {
  if (block_size === 0) return t`Nothing has been written to it.`;
  if (blocks.length === 0) return t`No finished block yet.`;
  const many = more
    ? t`more than ${count(blocks.length)} blocks`
    : plural(blocks.length, { one: "1 block", other: "# blocks" });
  const each = plural(replication, { one: "1 replica", other: "# replicas" });
  return t`${formatBytes(length)} in ${many}, ${each} each.`;
}

/** Defect of a block; empty for a whole one. */
export function healthWords({ health, replicas }: FileBlock, replication: number): string {
  const good = Object.values(replicas).filter((each) => each === "good").length;
  if (health === "missing") return t`missing: no live data node has it`;
  if (health === "under") return t`only ${good} of ${replication}`;
  return health === "over" ? t`${good} where ${replication} suffice` : "";
}
