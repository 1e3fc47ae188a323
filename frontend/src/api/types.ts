/** The control plane's API as TypeScript sees it. Times end in `_ns` and are the machine's monotonic clock. */

import type { Counters, Pipeline, Replicated } from "./counts";
import type { Verb } from "./faults";

export type Role = "active" | "standby" | "junior" | "primary" | "secondary" | "member" | "joining" | "down";
export type Letter = "A" | "S" | "J" | "P" | "M" | "-";
export type Process = "running" | "paused" | "stopped";
export type Direction = "both" | "to" | "from";

export interface Server {
  name: string;
  group: string;
  /** Its place in the global view. */
  role: Role;
  /** What it says of itself. */
  believes: string;
  process: Process;
  epoch: number;
  /** The last durable journal group. */
  sn: number;
  applied_sn: number;
  commit_sn: number;
  /** Committed groups that are not durable here. */
  lag: number;
  pid: number;
  address: string;
  /** Short id; empty on processes. */
  container: string;
  image: string;
  faults: number[];
  warning: string;
}

export interface Group {
  name: string;
  epoch: number;
  active: string;
  lock_owner: string;
  commit_sn: number;
  configuration: { number: number; members: string[] };
}

export interface Fault {
  fault: number;
  verb: string;
  targets: string[];
  options: Record<string, unknown>;
  at_ns: number;
}

export interface Lamp {
  invariant: string;
  meaning: string;
  state: "grey" | "green" | "red";
  checked: number;
  explanation: string;
  /** (server, event number) pairs, oldest first. */
  evidence?: [string, number][];
}

export interface Client {
  name: string;
  pid: number;
  address: string;
  container: string;
  image: string;
  process: Process;
  rate_per_s: number;
  paused: boolean;
  clients: number;
}

/** Keeps replicas of blocks. */
export interface DataNode {
  name: string;
  process: Process;
  pid: number;
  address: string;
  blocks: number;
  octets: number;
  damaged: number;
  faults: number[];
  warning: string;
}

/** A journal node or a bookie: keeps the journal that the servers share. */
export interface JournalNode {
  name: string;
  process: Process;
  pid: number;
  address: string;
  /** Of the last journal group that it stored. */
  sn: number;
  /** Of the last writer; at a bookie the number of the ledger. */
  epoch: number;
  faults: number[];
  warning: string;
}

/** One server of a ZooKeeper ensemble that is ours. */
export interface EnsembleServer {
  name: string;
  role: "leader" | "follower" | "looking" | "down";
  process: Process;
  pid: number;
  address: string;
  container: string;
  image: string;
}

export interface Coordination {
  pid: number;
  address: string;
  process: Process;
  embedded: boolean;
  /** Empty unless its servers are ours one by one. */
  servers: EnsembleServer[];
}

export interface Link {
  a: string;
  /** "*" means everybody. */
  b: string;
  direction: Direction;
  rule: string;
}

export interface Cluster {
  cluster: string;
  protocol: string;
  fabric: string;
  run: number;
  seq: number;
  clock: string;
  now_ns: number;
  settled: boolean;
  start_s: number | null;
  trouble: string;
  /** "safe", or "paper": the protocol's literal text with all of its holes. */
  variant: string;
  /** The paper's holes that are open: the cluster is not safe. */
  holes: string[];
  timing: Record<string, number>;
  /** `counters` is null while the group's active does not answer. */
  groups: (Group & { counters: Counters | null })[];
  servers: Server[];
  data_nodes: DataNode[];
  journal_nodes: JournalNode[];
  /** By server and journal node; who does not answer is left out. */
  replicated: Record<string, Replicated>;
  /** By server; empty where the family has no jobs and locks. */
  pipelines: Record<string, Pipeline>;
  clients: Client[];
  coordination: Coordination;
  links: Link[];
  faults: Fault[];
  lamps: Lamp[];
}

/** The state at one moment, made from events alone. */
export interface Picture {
  at_ns: number;
  seq: number;
  servers: Record<string, Server>;
  groups: Record<string, Group>;
  data_nodes: Record<string, DataNode>;
  journal_nodes: Record<string, JournalNode>;
  faults: Fault[];
  /** Invariants broken by then, and why. */
  lamps: Record<string, string>;
}

export interface Run {
  run: number;
  protocol: string;
  started_at: string;
  ended_at: string | null;
  started_ns: number;
  first_seq: number;
  last_seq: number;
  live: boolean;
}

export interface Stamp {
  seq: number;
  server: string;
  boot: number;
  number: number;
  at_ns: number;
  cause: number;
  cause_server?: string;
}

type Fields<Kind extends string, Own> = Stamp & { kind: Kind } & Own;

/** Events that change the picture. */
export type StateEvent =
  | Fields<"Started", { pid: number; address: string }>
  | Fields<"Stopped", { reason: string }>
  | Fields<"RoleChanged", { group: string; role: string; epoch: number; sn: number; reason: string }>
  | Fields<"Durable", { sn: number; epoch: number; groupid: number; crc: string; records: number }>
  | Fields<"Cut", { sn: number; reason: string }>
  | Fields<"Committed", { group: string; sn: number; epoch: number; holders: string[] }>
  | Fields<"Applied", { sn: number; epoch: number; digest: string }>
  | Fields<"JournalOpened", { first_sn: number; last_sn: number; epoch: number; image_sn: number }>
  | Fields<"Warned", { what: string }>
  | Fields<"Placed", { group: string; of_server: string; state: string; epoch: number; sn: number }>
  | Fields<"LockHeld", { group: string; owner: string }>
  | Fields<"EpochRaised", { group: string; epoch: number; active: string }>
  | Fields<"Configured", { group: string; of_number: number; members: string[] }>
  | Fields<"FaultInjected", Omit<Fault, "at_ns">>
  | Fields<"FaultEnded", { fault: number; verb: string; targets: string[] }>
  | Fields<"ProcessEnded", { of_server: string; reason: string }>
  | Fields<"ProcessFound", { of_server: string; pid: number; role: string }>
  | Fields<"LeaseLost", { epoch: number; late_ns: number }>
  | Fields<"LeaseConfirmed", { epoch: number }>
  | Fields<"NodeHolds", { blocks: number; octets: number; damaged: number }>
  | Fields<"JournalStored", { sn: number; epoch: number; groups: number }>
  | Fields<"CheckFailed", { invariant: string; explanation: string; evidence: [string, number][] }>;

/** Events that only tell a story. */
export type ToldEvent =
  | Fields<"StepTaken", { procedure: string; step: string; paper: string; detail: string; epoch: number }>
  | Fields<"Serving", { group: string; epoch: number; sn: number; members?: string[] }>
  | Fields<"StoppedServing", { group: string; epoch: number; reason: string }>
  | Fields<"Renewing", { phase: string; sn: number; goal_sn: number }>
  | Fields<"WriterFenced", { epoch: number }>
  | Fields<"Ignored", { sender: string; kind: string; reason: string }>
  | Fields<"SessionEnded", { of_server: string; reason: string }>
  | Fields<"JournalCorrupt", { file: string; offset: number; sn: number; reason: string }>
  | Fields<"Called", { client: string; of_number: number; error: string; of_server: string }>
  | Fields<"Invoked", { client: string; of_number: number }>;

export type LabEvent = StateEvent | ToldEvent;

export interface EventPage {
  events: LabEvent[];
  next: number;
  left_out: number;
}

export interface Failover {
  group: string;
  fault_ns: number;
  detection_ms: number;
  election_ms: number;
  switch_ms: number;
  /** null while no client has been answered by the new active. */
  reconnect_ms: number | null;
  total_ms: number;
  from: string;
  to: string;
  epoch: number;
}

export interface ViewMark {
  group: string;
  number: number;
  members: string[];
  at_ns: number;
}

export interface Timeline {
  from_ns: number;
  to_ns: number;
  bucket_ns: number;
  ok: number[];
  failed: number[];
  p50_ms: (number | null)[];
  p99_ms: (number | null)[];
  bands: { server: string; group: string; spans: { from_ns: number; to_ns: number; letter: Letter }[] }[];
  faults: { fault: number; verb: string; targets: string[]; at_ns: number; ended_ns: number | null }[];
  /** Checkpoints: when the first group wrote its barrier, and which groups did. */
  barriers: { name: string; at_ns: number; groups: string[] }[];
  /** What each group agreed on as its members; the first of each group may lie before the stretch. */
  views: ViewMark[];
  failovers: Failover[];
}

/** p durable, c committed, a applied, e of another epoch, x missing. */
export type CellState = "p" | "c" | "a" | "e" | "x";
/** from_sn, to_sn, epoch, state: equal neighbours are one run. */
export type CellRun = [from_sn: number, to_sn: number, epoch: number, state: CellState];

/** The journals of one replica group: serial numbers count in each group for itself. */
export interface Journals {
  group: string;
  commit_sn: number;
  first_sn: number;
  last_sn: number;
  servers: { name: string; cells: CellRun[] }[];
  /** Serial numbers of barriers, and the checkpoints that they are of. */
  barriers: [sn: number, name: string][];
}

export interface JournalRecord {
  server: string;
  sn: number;
  group: unknown;
}

export interface WorkloadState {
  rate_per_s: number;
  paused: boolean;
  clients: number;
}

/** Calls of the last fifth of a second; latencies are of the last second. */
export interface Rate {
  at_ns: number;
  ok: number;
  failed: number;
  span_ms: number;
  p50_ms: number | null;
  p99_ms: number | null;
}

/** from, to, kind, at_ns, count. */
export type MessageLine = [from: string, to: string, kind: string, at_ns: number, count: number];

export interface Processes {
  servers: Pick<Server, "name" | "process" | "pid" | "container" | "image" | "address">[];
  data_nodes: DataNode[];
  journal_nodes: JournalNode[];
  clients: Client[];
  coordination: Coordination;
  links: Link[];
}

export type StreamFrame =
  | {
      type: "hello";
      run: number;
      seq: number;
      picture: Picture;
      verbs: Verb[];
      lamps: Lamp[];
      now_ns: number;
      left_out: number;
    }
  | ({ type: "events" } & EventPage)
  | ({ type: "rate" } & Rate)
  | { type: "messages"; list: MessageLine[]; dropped: number }
  | ({ type: "processes" } & Processes)
  | ({ type: "failover" } & Failover)
  | {
      type: "counters";
      groups: Record<string, Counters>;
      servers: Record<string, Replicated>;
      pipelines: Record<string, Pipeline>;
    }
  | { type: "lamps"; lamps: Lamp[] };
