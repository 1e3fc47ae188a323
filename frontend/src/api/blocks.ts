/** The blocks of a file as the API tells them. */

/** A finished block, and what data nodes that live have of it. */
export interface FileBlock {
  /** In hexadecimal; the first four figures name the group that gave it. */
  number: string;
  stamp: number;
  length: number;
  health: "whole" | "under" | "over" | "missing";
  replicas: Record<string, "good" | "stale" | "damaged" | "writing">;
}

export interface FileBlocks {
  path: string;
  length: number;
  replication: number;
  /** 0 for a file that has never been written. */
  block_size: number;
  /** A writer holds the file. */
  writing: boolean;
  more: boolean;
  blocks: FileBlock[];
}
