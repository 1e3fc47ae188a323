import { rowOf } from "../actions/verbs";
import type { Verb } from "../api/faults";
import type { DataNode, Group, JournalNode, LabEvent, Picture, Server, StateEvent } from "../api/types";

export const EMPTY_PICTURE: Picture = {
  at_ns: 0,
  seq: 0,
  servers: {},
  groups: {},
  data_nodes: {},
  journal_nodes: {},
  faults: [],
  lamps: {},
};

type Struck = Server | DataNode | JournalNode;

/** A picture being changed: what it hands out to be written was copied from the old one once. */
class Draft {
  readonly picture: Picture;
  private readonly fresh = new Set<object>();

  constructor(
    old: Picture,
    readonly verbs: readonly Verb[],
  ) {
    this.picture = {
      ...old,
      servers: { ...old.servers },
      groups: { ...old.groups },
      data_nodes: { ...old.data_nodes },
      journal_nodes: { ...old.journal_nodes },
      lamps: { ...old.lamps },
    };
  }

  knows(name: string): boolean {
    return name in this.picture.servers;
  }

  /** null for who is no data node. */
  dataNode(name: string): DataNode | null {
    return this.node(this.picture.data_nodes, name);
  }

  /** null for who is no journal node. */
  journalNode(name: string): JournalNode | null {
    return this.node(this.picture.journal_nodes, name);
  }

  private node<Node extends object>(nodes: Record<string, Node>, name: string): Node | null {
    const known = nodes[name];
    if (known === undefined || this.fresh.has(known)) return known ?? null;
    const copy = { ...known };
    nodes[name] = copy;
    this.fresh.add(copy);
    return copy;
  }

  /** The server, data node or journal node of that name; null for anybody else. */
  struck(name: string): Struck | null {
    return this.knows(name) ? this.server(name) : (this.dataNode(name) ?? this.journalNode(name));
  }

  server(name: string, group = ""): Server {
    const known = this.picture.servers[name];
    if (known !== undefined && this.fresh.has(known)) return known;
    const copy = known
      ? { ...known }
      : unknownServer(name, group || (Object.keys(this.picture.groups)[0] ?? ""));
    this.picture.servers[name] = copy;
    this.fresh.add(copy);
    return copy;
  }

  group(name: string): Group {
    const known = this.picture.groups[name];
    if (known !== undefined && this.fresh.has(known)) return known;
    const copy = known ? { ...known } : unknownGroup(name);
    this.picture.groups[name] = copy;
    this.fresh.add(copy);
    return copy;
  }
}

function unknownServer(name: string, group: string): Server {
  const counters = { epoch: 0, sn: 0, applied_sn: 0, commit_sn: 0, lag: 0, pid: 0 };
  const state = { role: "down", believes: "none", process: "stopped" } as const;
  const box = { address: "", container: "", image: "" };
  return { name, group, ...state, ...counters, ...box, faults: [], warning: "" };
}

function unknownGroup(name: string): Group {
  const configuration = { number: 0, members: [] };
  return { name, epoch: 0, active: "", lock_owner: "", commit_sn: 0, configuration };
}

function stop(server: Struck): void {
  server.process = "stopped";
  server.pid = 0;
  if ("believes" in server) server.believes = "none";
}

/** As the control plane words it. */
const FENCED = "answers nobody: its coordination session is not confirmed";

type Steps = {
  [Kind in StateEvent["kind"]]: (draft: Draft, event: Extract<StateEvent, { kind: Kind }>) => void;
};

const STEPS: Steps = {
  Started(draft, event) {
    const { pid, address } = event;
    const started = { process: "running", pid, address, warning: "" };
    const node = draft.dataNode(event.server) ?? draft.journalNode(event.server);
    if (node !== null) Object.assign(node, started);
    if (draft.knows(event.server))
      Object.assign(draft.server(event.server), { ...started, believes: "none" });
  },
  Stopped(draft, event) {
    const stopped = draft.struck(event.server);
    if (stopped !== null) stop(stopped);
  },
  NodeHolds(draft, event) {
    const { blocks, octets, damaged } = event;
    const node = draft.dataNode(event.server);
    if (node !== null) Object.assign(node, { blocks, octets, damaged });
  },
  JournalStored(draft, event) {
    const node = draft.journalNode(event.server);
    if (node !== null) Object.assign(node, { sn: event.sn, epoch: event.epoch });
  },
  RoleChanged(draft, event) {
    const server = draft.server(event.server, event.group);
    Object.assign(server, { group: event.group, believes: event.role, epoch: event.epoch });
    if (server.warning === FENCED) server.warning = "";
  },
  Durable(draft, event) {
    const server = draft.server(event.server);
    server.sn = event.sn;
    server.epoch = event.epoch;
    const commit_sn = draft.picture.groups[server.group]?.commit_sn ?? 0;
    server.lag = Math.max(0, commit_sn - event.sn);
  },
  Cut(draft, event) {
    const server = draft.server(event.server);
    server.sn = event.sn;
    server.applied_sn = Math.min(server.applied_sn, event.sn);
  },
  Committed(draft, event) {
    draft.group(event.group).commit_sn = event.sn;
    draft.server(event.server).commit_sn = event.sn;
    for (const { name, group, sn, lag } of Object.values(draft.picture.servers)) {
      const behind = Math.max(0, event.sn - sn);
      if (group === event.group && behind !== lag) draft.server(name).lag = behind;
    }
  },
  Applied(draft, event) {
    const server = draft.server(event.server);
    server.applied_sn = event.sn;
    server.commit_sn = Math.max(server.commit_sn, event.sn);
  },
  JournalOpened(draft, event) {
    const server = draft.server(event.server);
    Object.assign(server, {
      sn: event.last_sn,
      epoch: event.epoch,
      applied_sn: event.image_sn,
      commit_sn: 0,
    });
  },
  Warned(draft, event) {
    const warned = draft.struck(event.server);
    if (warned !== null && warned.warning !== FENCED) warned.warning = event.what;
  },
  LeaseLost(draft, event) {
    draft.server(event.server).warning = FENCED;
  },
  LeaseConfirmed(draft, event) {
    const server = draft.server(event.server);
    if (server.warning === FENCED) server.warning = "";
  },
  ProcessEnded(draft, event) {
    const ended = draft.struck(event.of_server);
    if (ended === null) return;
    stop(ended);
    ended.warning = event.reason;
  },
  ProcessFound(draft, event) {
    const found = draft.struck(event.of_server);
    if (found === null) return;
    Object.assign(found, { process: "running", pid: event.pid, warning: "" });
    if ("believes" in found) found.believes = event.role as Server["believes"];
  },
  Placed(draft, event) {
    draft.server(event.of_server, event.group).role = (event.state || "down") as Server["role"];
  },
  LockHeld(draft, event) {
    draft.group(event.group).lock_owner = event.owner;
  },
  EpochRaised(draft, event) {
    Object.assign(draft.group(event.group), { epoch: event.epoch, active: event.active });
  },
  Configured(draft, event) {
    draft.group(event.group).configuration = { number: event.of_number, members: event.members };
  },
  FaultInjected(draft, event) {
    const row = rowOf(draft.verbs, event.verb);
    if (!row?.lasts) return;
    for (const name of event.targets) {
      const struck = draft.struck(name);
      if (struck !== null) strike(struck, event.fault, row);
    }
    const { fault, verb, targets, options, at_ns } = event;
    draft.picture.faults = [...draft.picture.faults, { fault, verb, targets, options, at_ns }];
  },
  FaultEnded(draft, event) {
    draft.picture.faults = draft.picture.faults.filter(({ fault }) => fault !== event.fault);
    const { servers, data_nodes, journal_nodes } = draft.picture;
    for (const { name, faults } of [servers, data_nodes, journal_nodes].flatMap(Object.values<Struck>)) {
      const server = faults.includes(event.fault) ? draft.struck(name) : null;
      if (server === null) continue;
      server.faults = faults.filter((fault) => fault !== event.fault);
      const paused = rowOf(draft.verbs, event.verb)?.leaves === "paused";
      if (paused && server.process === "paused") server.process = "running";
    }
  },
  CheckFailed(draft, event) {
    draft.picture.lamps[event.invariant] ??= event.explanation;
  },
};

function strike(server: Struck, fault: number, { leaves, empties }: Verb): void {
  server.faults = [...server.faults, fault];
  if (leaves === "stopped") stop(server);
  else if (leaves !== null) server.process = leaves;
  if (empties && "blocks" in server) Object.assign(server, { blocks: 0, octets: 0, damaged: 0 });
}

/**
 * The picture after `events`, which are in order; those that the picture already holds are passed over.
 * The old picture is not changed, and what no event touched is the same object in the new one. `verbs` say what a fault does to whom it strikes.
 */
export function reduce(old: Picture, events: readonly LabEvent[], verbs: readonly Verb[]): Picture {
  const news = events.filter((event) => event.seq > old.seq);
  if (news.length === 0) return old;
  const draft = new Draft(old, verbs);
  for (const event of news) {
    draft.picture.seq = event.seq;
    draft.picture.at_ns = Math.max(draft.picture.at_ns, event.at_ns);
    const step = STEPS[event.kind as StateEvent["kind"]] as ((d: Draft, e: LabEvent) => void) | undefined;
    step?.(draft, event);
  }
  return draft.picture;
}
