import { create } from "zustand";
import type {
  Client,
  ClockState,
  Cluster,
  Coordination,
  Counters,
  Failover,
  InvariantStatus,
  LabEvent,
  Lane,
  Link,
  MessageLine,
  Node,
  NodeProcess,
  Picture,
  PictureChanges,
  Pipeline,
  RateFrame,
  Replicated,
  Run,
  Server,
  StudentName,
  Verb,
  Vocabulary,
} from "../api/schema";
import { vocabularyOf } from "../families/vocabulary";
import { Ring } from "./ring";
import { ClusterClock } from "./time";

export const EMPTY_PICTURE: Picture = {
  ...{ at_ns: 0, seq: 0, servers: {}, groups: {}, nodes: {} },
  ...{ faults: [], invariants: {} },
};

/** The picture with what has changed; rows that have not are the same objects. */
export function patched(old: Picture, changes: PictureChanges): Picture {
  return {
    ...old,
    ...changes,
    servers: { ...old.servers, ...changes.servers },
    groups: { ...old.groups, ...changes.groups },
    nodes: { ...old.nodes, ...changes.nodes },
  };
}

/** What a person has pointed at. */
export type Selection =
  | { kind: "server"; name: string }
  | { kind: "servers"; names: string[] }
  | { kind: "link"; a: string; b: string }
  | { kind: "record"; server: string; sn: number }
  | { kind: "invariant"; invariant: string };

/** The target of an open menu. */
export type Pointed =
  /** `asks`: the verb whose question is open in it. */
  | { kind: "server"; name: string; asks?: string }
  | { kind: "link"; a: string; b: string }
  | { kind: "group"; name: string }
  | { kind: "process"; name: string };

/** A past moment, at which the picture is frozen. */
export interface Moment {
  at_ns: number;
  picture: Picture;
  /** The event that a person stepped to. */
  event: LabEvent | null;
}

export interface Connection {
  state: "connecting" | "live" | "lost";
  /** While the connection is lost: time of the loss and of the next attempt, in `performance.now()`. */
  since_ms: number;
  retry_at_ms: number;
}

export interface Toast {
  id: number;
  text: string;
  tone: "done" | "error";
  /** Effect of the button beside it. */
  undo: { label: string; run: () => void } | null;
}

export type PageName =
  | "cluster"
  | "namespace"
  | "pool"
  | "checkpoints"
  | "coordination"
  | "scenarios"
  | "compare"
  | "explore"
  | "labs"
  | "papers"
  | "class";

export interface LabState {
  page: PageName;
  /** Selected path on the namespace page. */
  path: string;
  /** Selection on the page of the storage pool, as "group/node/file" without the file's directory. */
  spot: string;
  /** The lab on the page of labs; empty for their list. */
  lab: string;
  /** The mechanism on the page of papers, as "paper/mechanism", or "experiments/name"; empty for their list. */
  paper: string;
  /** The scenario on the page of scenarios, as "folder/name"; empty for their list. */
  scenario: string;
  /** Request of the compare page, as in its URL. */
  compare: string;
  connection: Connection;
  /** The student who uses the page; empty for the instructor. */
  student: string;
  /** The student whose cluster the instructor looks at and cannot change; null on any other cluster. */
  looksAt: StudentName | null;
  /** Why the control plane admits this page no more; empty while it does. */
  refused: string;
  /** The clock of a simulated cluster; null for real servers. */
  virtual: ClockState | null;
  /** Facts that events do not carry: names, timing, addresses; requested at each hello. */
  cluster: Cluster | null;
  verbs: Verb[];
  /** Kinds of node that the cluster has, as the page shows them. */
  lanes: Lane[];
  runs: Run[];
  /** The present, as the stream reports it, once per animation frame. */
  live: Picture;
  liveRun: number | null;
  invariants: InvariantStatus[];
  links: Link[];
  clients: Client[];
  coordination: Coordination | null;
  /** State and pid of each server and node, from the operating system. */
  processes: NodeProcess[];
  /** Failovers of the live run, oldest first, at most 100; a later frame for the same epoch replaces the earlier one. */
  failovers: Failover[];
  /** Present counters by group; a group whose active does not answer is left out. */
  counters: Record<string, Counters>;
  /** Present replication costs by server and journal node. */
  replicated: Record<string, Replicated>;
  /** Present jobs and locks by server, of families that have them. */
  pipelines: Record<string, Pipeline>;
  /** Counts changes of `events`, `rates` and `messages`, which are outside of the store for speed. */
  beat: number;
  /** The shown run; null is the live one. */
  run: number | null;
  /** null follows the present (or the end of a past run until its picture has arrived). */
  moment: Moment | null;
  selection: Selection | null;
  menu: Pointed | null;
  toasts: Toast[];
}

export const useLab = create<LabState>()(() => ({
  page: "cluster",
  path: "/",
  spot: "",
  lab: "",
  paper: "",
  scenario: "",
  compare: "",
  connection: { state: "connecting", since_ms: 0, retry_at_ms: 0 },
  student: "",
  looksAt: null,
  refused: "",
  virtual: null,
  cluster: null,
  verbs: [],
  lanes: [],
  runs: [],
  live: EMPTY_PICTURE,
  liveRun: null,
  invariants: [],
  links: [],
  clients: [],
  coordination: null,
  processes: [],
  failovers: [],
  counters: {},
  replicated: {},
  pipelines: {},
  beat: 0,
  run: null,
  moment: null,
  selection: null,
  menu: null,
  toasts: [],
}));

/** The newest events of the live run, by `seq`. */
export const events = new Ring<LabEvent>(20_000);
/** Newest events that are worth a line of their own. */
export const stories = new Ring<LabEvent>(50);
/** One rate per 200 ms of the live run: the last ten minutes. */
export const rates = new Ring<RateFrame>(3_000);
/** Message lines of the live run, newest last; each reader keeps its own position. */
export const messages = new Ring<MessageLine>(2_000);
/** Servers' counters, one per second of the live run: the last minute. */
export const tallies = new Ring<Record<string, Replicated>>(60);
/** The clock of the events' stamps. */
export const clock = new ClusterClock();

/** The picture to show: the frozen moment, else the present. */
export function shownPicture(state: LabState): Picture {
  return state.moment?.picture ?? state.live;
}

/** The shown run; null before the first hello. */
export function shownRun(state: LabState): number | null {
  return state.run ?? state.liveRun;
}

/** Whether the present of the running cluster is shown. */
export function isLive(state: LabState): boolean {
  return state.moment === null && (state.run === null || state.run === state.liveRun);
}

export function isConnected(state: LabState): boolean {
  return state.connection.state === "live";
}

/** Whether the cluster is a student's, which an instructor does not change. */
export function onlyLooks({ looksAt }: LabState): boolean {
  return looksAt !== null;
}

/** Whether the cluster can be changed: it answers, and is not only looked at. */
export function canChange(state: LabState): boolean {
  return isConnected(state) && !onlyLooks(state);
}

/** Whether verbs are possible: the cluster can be changed, and its live run is shown (frozen or not). */
export function canAct(state: LabState): boolean {
  return canChange(state) && (state.run === null || state.run === state.liveRun);
}

/** Whether the page controls the clock of its cluster: a simulated one, and not only looked at. */
export function hasClock({ virtual, looksAt }: LabState): boolean {
  return virtual !== null && looksAt === null;
}

/** Start of the shown run; 0 while unknown. */
export function runStart(state: LabState): number {
  return runFacts(state)?.started_ns ?? 0;
}

/** Whether the facts of the shown run have arrived. */
export function knowsRun(state: LabState): boolean {
  return runFacts(state) !== undefined;
}

export const usePicture = (): Picture => useLab(shownPicture);

const overlaid = new WeakMap<NodeProcess, NodeProcess>();

/** The server or node with the operating system's state; the same input gives the same object. */
function withProcess<Kind extends NodeProcess>(shown: Kind, known: NodeProcess | undefined): Kind {
  if (known === undefined) return shown;
  const { process, pid, container, image } = known;
  const same = (other: NodeProcess): boolean =>
    other.process === process && other.pid === pid && other.container === container;
  if (same(shown)) return shown;
  const before = overlaid.get(shown);
  if (before !== undefined && same(before)) return before as Kind;
  const after = { ...shown, process, pid, container, image };
  overlaid.set(shown, after);
  return after;
}

/** In the present the operating system decides which processes run. */
function shownAs<Kind extends NodeProcess>(state: LabState, table: Record<string, Kind>): Kind[] {
  const shown = Object.values(table);
  if (!isLive(state)) return shown;
  const known = new Map(state.processes.map((process) => [process.name, process]));
  return shown.map((each) => withProcess(each, known.get(each.name)));
}

export const shownServers = (state: LabState): Server[] => shownAs(state, shownPicture(state).servers);
export const shownNodes = (state: LabState): Node[] => shownAs(state, shownPicture(state).nodes);

/** Facts of the shown run; undefined while they have not arrived. */
function runFacts(state: LabState): Run | undefined {
  const run = shownRun(state);
  return state.runs.find((each) => each.run === run);
}

/** Kinds of node of the shown run: an imported one may come from another cluster. */
export function shownLanes(state: LabState): readonly Lane[] {
  const facts = runFacts(state);
  return facts === undefined || facts.origin === "" ? state.lanes : facts.lanes;
}

/** The terms of the cluster's family. */
export const useWords = (): Vocabulary => useLab((state) => vocabularyOf(state.cluster?.protocol));

/** The terms of the family of the shown run. */
export const useRunWords = (): Vocabulary =>
  useLab((state) => vocabularyOf(runFacts(state)?.protocol ?? state.cluster?.protocol));
