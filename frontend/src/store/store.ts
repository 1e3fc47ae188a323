import { create } from "zustand";
import type { Counters, Pipeline, Replicated } from "../api/counts";
import type { Verb } from "../api/faults";
import type {
  Client,
  Cluster,
  Coordination,
  DataNode,
  Failover,
  JournalNode,
  LabEvent,
  Lamp,
  Link,
  MessageLine,
  Picture,
  Processes,
  Rate,
  Run,
  Server,
} from "../api/types";
import { type Vocabulary, vocabularyOf } from "../families/vocabulary";
import { EMPTY_PICTURE } from "./reduce";
import { Ring } from "./ring";
import { MachineClock } from "./time";

/** What a person has pointed at. */
export type Selection =
  | { kind: "server"; name: string }
  | { kind: "servers"; names: string[] }
  | { kind: "link"; a: string; b: string }
  | { kind: "record"; server: string; sn: number }
  | { kind: "lamp"; invariant: string };

/** What a menu is open for. */
export type Pointed =
  /** `asks`: the verb whose question stands open in it. */
  | { kind: "server"; name: string; asks?: string }
  | { kind: "link"; a: string; b: string }
  | { kind: "group"; name: string }
  | { kind: "process"; name: string };

/** A moment that is not the present: the picture stands still there. */
export interface Moment {
  at_ns: number;
  picture: Picture;
  /** The event that led here, when a person stepped to it. */
  event: LabEvent | null;
}

export interface Connection {
  state: "connecting" | "live" | "lost";
  /** While lost: since when and when the next try is, in `performance.now()`. */
  since_ms: number;
  retry_at_ms: number;
}

export interface Toast {
  id: number;
  text: string;
  tone: "done" | "error";
  /** What the button beside it does. */
  undo: { label: string; run: () => void } | null;
}

export type PageName = "cluster" | "namespace" | "pool" | "checkpoints" | "compare";

export interface LabState {
  page: PageName;
  /** What is pointed at on the namespace page. */
  path: string;
  /** What is pointed at on the page of the storage pool, as "group/node/file" without the file's directory. */
  spot: string;
  /** What the compare page is asked for, as its URL says it. */
  compare: string;
  connection: Connection;
  /** What events do not tell: names, timing, addresses; asked again at each hello. */
  cluster: Cluster | null;
  verbs: Verb[];
  runs: Run[];
  /** The present, reduced from the stream once per animation frame. */
  live: Picture;
  liveRun: number | null;
  lamps: Lamp[];
  links: Link[];
  clients: Client[];
  coordination: Coordination | null;
  /** Running or not and pid, as the operating system knows them. */
  processes: Processes["servers"];
  /** The same of data nodes and of journal nodes. */
  dataNodes: DataNode[];
  journalNodes: JournalNode[];
  /** Splits of the live run, oldest first, at most 100; a later frame for the same epoch replaces. */
  failovers: Failover[];
  /** By group, of the present; a group whose active does not answer is not in it. */
  counters: Record<string, Counters>;
  /** By server and journal node, of the present: what it spent on replication. */
  replicated: Record<string, Replicated>;
  /** By server, of the present: its jobs and locks; of families that have them. */
  pipelines: Record<string, Pipeline>;
  /** Counts changes of `events`, `rates` and `messages`, which are not in the store for speed. */
  beat: number;
  /** The run that is looked at; null is the live one. */
  run: number | null;
  /** null follows the present (or the end of a past run until its picture is there). */
  moment: Moment | null;
  selection: Selection | null;
  menu: Pointed | null;
  toasts: Toast[];
}

export const useLab = create<LabState>()(() => ({
  page: "cluster",
  path: "/",
  spot: "",
  compare: "",
  connection: { state: "connecting", since_ms: 0, retry_at_ms: 0 },
  cluster: null,
  verbs: [],
  runs: [],
  live: EMPTY_PICTURE,
  liveRun: null,
  lamps: [],
  links: [],
  clients: [],
  coordination: null,
  processes: [],
  dataNodes: [],
  journalNodes: [],
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
/** Those of them that are worth a line by themselves. */
export const stories = new Ring<LabEvent>(50);
/** One per 200 ms of the live run: the last ten minutes. */
export const rates = new Ring<Rate>(3_000);
/** Message lines of the live run, newest last; whoever draws remembers where it was. */
export const messages = new Ring<MessageLine>(2_000);
/** What servers counted, one a second of the live run: the last minute. */
export const tallies = new Ring<Record<string, Replicated>>(60);
/** The clock that events are stamped with. */
export const clock = new MachineClock();

/** What is to be shown: the moment that was frozen or scrubbed to, else the present. */
export function shownPicture(state: LabState): Picture {
  return state.moment?.picture ?? state.live;
}

/** The run that is looked at; null before the first hello. */
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

/** Whether acts on the cluster make sense: the live run is looked at (frozen or not) and we are connected. */
export function canAct(state: LabState): boolean {
  return isConnected(state) && (state.run === null || state.run === state.liveRun);
}

/** When the run that is looked at began; 0 while that is unknown. */
export function runStart(state: LabState): number {
  const run = shownRun(state);
  return state.runs.find((each) => each.run === run)?.started_ns ?? 0;
}

export const usePicture = (): Picture => useLab(shownPicture);

const overlaid = new WeakMap<Server, Server>();

/** The server with what the operating system says; the same object for the same question. */
function withProcess(server: Server, known: Processes["servers"][number] | undefined): Server {
  if (known === undefined) return server;
  const { process, pid, container, image } = known;
  const same = (other: Server): boolean =>
    other.process === process && other.pid === pid && other.container === container;
  if (same(server)) return server;
  const before = overlaid.get(server);
  if (before !== undefined && same(before)) return before;
  const after = { ...server, process, pid, container, image };
  overlaid.set(server, after);
  return after;
}

/** Servers as shown: of the present, the operating system knows best who runs. */
export function shownServers(state: LabState): Server[] {
  const servers = Object.values(shownPicture(state).servers);
  if (!isLive(state)) return servers;
  return servers.map((server) =>
    withProcess(
      server,
      state.processes.find(({ name }) => name === server.name),
    ),
  );
}

type Node = DataNode | JournalNode;

const nodesOverlaid = new WeakMap<Node, Node>();

/** Of the present, the operating system knows best who runs; the same object for the same question. */
function withProcesses<Kind extends Node>(nodes: Kind[], processes: readonly Kind[]): Kind[] {
  return nodes.map((node) => {
    const known = processes.find(({ name }) => name === node.name);
    if (known === undefined || (known.process === node.process && known.pid === node.pid)) return node;
    const before = nodesOverlaid.get(node);
    if (before?.process === known.process && before.pid === known.pid) return before as Kind;
    const after = { ...node, process: known.process, pid: known.pid };
    nodesOverlaid.set(node, after);
    return after;
  });
}

/** Data nodes as shown. */
export function shownDataNodes(state: LabState): DataNode[] {
  const nodes = Object.values(shownPicture(state).data_nodes);
  return isLive(state) ? withProcesses(nodes, state.dataNodes) : nodes;
}

/** Journal nodes as shown. */
export function shownJournalNodes(state: LabState): JournalNode[] {
  const nodes = Object.values(shownPicture(state).journal_nodes);
  return isLive(state) ? withProcesses(nodes, state.journalNodes) : nodes;
}

/** The words of the cluster's family. */
export const useWords = (): Vocabulary => useLab((state) => vocabularyOf(state.cluster?.protocol));
