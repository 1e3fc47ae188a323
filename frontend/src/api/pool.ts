/** The storage pool and the checkpoints as the API tells them. */

export type ReplicaState = "agrees" | "behind" | "damaged" | "disputed" | "repairing" | "repaired";

/** One file on one pool node, as that node or the active said last. */
export interface Replica {
  size: number;
  /** Octets from the beginning that are whole. */
  valid: number;
  checksum: number;
  epoch: number;
  first_sn: number;
  last_sn: number;
  state: ReplicaState;
  /** Why it is not believed. */
  reason: string;
  /** Whose replica it is repaired from. */
  source: string;
  /** Where the repair began: what lies before was good. */
  began: number;
  offset: number;
}

export interface PoolNode {
  name: string;
  /** When its last report came; 0 when none has. */
  told_ns: number;
  files: number;
  octets: number;
  /** Why its last report was not believed. */
  refused: string;
  renewal: { phase: string; sn: number; goal_sn: number } | null;
  /** What a person has damaged here while no server has noticed. */
  struck: string;
}

export interface PoolImage {
  name: string;
  sn: number;
  octets: number;
  partitions: number;
  /** Empty when it was not seen being written. */
  writer: string;
  took_ms: number;
  /** Nodes where it counts. */
  whole: string[];
  /** Nodes that found it damaged, and why. */
  refused: Record<string, string>;
}

export interface Pool {
  group: string;
  nodes: Record<string, PoolNode>;
  images: Record<string, PoolImage>;
  /** Replicas by file and node. */
  files: Record<string, Record<string, Replica>>;
}

/** `check`: every node reads all its files again, and they are compared; `image`: one is taken now. */
export type PoolOrder = { group: string; do: "check" | "image" };

/** Of a file or directory at the moment of an image. */
export interface Attributes {
  kind: "file" | "directory";
  mode: number;
  owner: string;
  group: string;
  mtime_ns: number;
  length: number;
  replication: number;
  /** Names in a directory. */
  entries: number;
  /** Names of a file. */
  nlink: number;
}

/** One image that was looked into, on the disk of `server`. */
export interface LookedIn {
  group: string;
  server: string;
  sn: number;
  partitions: number;
  /** The partitions that were loaded. */
  loaded: number[];
  octets: number;
  of_octets: number;
}

/** What the newest images say of a path, group by group as the path goes. */
export interface Looked {
  path: string;
  /** Null when the image does not have it. */
  found: Attributes | null;
  /** The first hundred of a directory. */
  names: string[];
  steps: LookedIn[];
}

export interface Checkpoint {
  name: string;
  number: number;
  /** Only a complete one can be recovered to; aside: a recovery went back to before it. */
  state: "complete" | "void" | "aside";
  incarnation: number;
  time_server: string;
  /** Nanoseconds since 1970, to about a microsecond as a browser counts. */
  stamp_ns: number;
  barriers: Record<string, { sn: number; epoch: number; digest: string }>;
}

export interface Checkpoints {
  checkpoints: Checkpoint[];
  /** How often the cluster has been taken back. */
  incarnation: number;
  recovered_to: string;
}

/** What a recovery would set aside now. */
export interface Behind {
  name: string;
  groups: number;
  operations: number;
}

/** One group's part in a marking: when each step was reached, 0 when it was not. */
export interface MarkingPart {
  drain_ns: number;
  drained_ns: number;
  written_ns: number;
  resumed_ns: number;
  sn: number;
}

export interface Marking {
  name: string;
  time_server: string;
  began_ns: number;
  /** 0 while it is not decided. */
  ended_ns: number;
  outcome: "" | "complete" | "void";
  /** Why a void one is void, as far as servers told. */
  reason: string;
  groups: Record<string, MarkingPart>;
}

export interface Recovery {
  incarnation: number;
  checkpoint: string;
  servers: Record<string, { group: string; groups: number; operations: number; sn: number; at_ns: number }>;
  /** What data nodes set aside, of all groups. */
  data_nodes: Record<string, { blocks: number; octets: number }>;
}

export interface CheckpointStory {
  markings: Marking[];
  recoveries: Recovery[];
}
