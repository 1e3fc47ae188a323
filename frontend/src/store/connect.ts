/** Passes the stream to the store, once per animation frame. */

import { api } from "../api/client";
import type {
  ClockState,
  Cluster,
  Failover,
  HelloFrame,
  LabEvent,
  PictureChanges,
  StreamFrame,
} from "../api/schema";
import { Stream } from "../api/socket";
import { knowMe } from "./me";
import { clock, events, type LabState, messages, patched, rates, stories, tallies, useLab } from "./store";
import { complain } from "./toasts";

/** Interval of updates on a hidden page, which gets no animation frames. */
const HIDDEN_MS = 500;
const FAILOVERS_MOST = 100;

let fresh: PictureChanges[] = [];
let changes: Partial<LabState> = {};
let touched = false;
let scheduled = false;

function schedule(): void {
  touched = true;
  if (scheduled) return;
  scheduled = true;
  if (document.hidden) setTimeout(flush, HIDDEN_MS);
  else requestAnimationFrame(flush);
}

function flush(): void {
  scheduled = false;
  if (!touched) return;
  touched = false;
  const [news, rest] = [fresh, changes];
  [fresh, changes] = [[], {}];
  useLab.setState((state) => ({
    ...rest,
    live: news.reduce(patched, rest.live ?? state.live),
    beat: state.beat + 1,
  }));
}

function onFrame(frame: StreamFrame): void {
  switch (frame.type) {
    case "hello":
      onHello(frame);
      break;
    case "events":
      for (const event of frame.events) keep(event);
      fresh.push(frame.picture);
      break;
    case "clock": {
      const { type: _, ...virtual } = frame;
      hearClock(virtual);
      changes = { ...changes, virtual };
      break;
    }
    case "rate":
      if (useLab.getState().virtual === null) clock.hear(frame.at_ns);
      rates.push(frame);
      break;
    case "messages":
      for (const line of frame.lines) messages.push(line);
      break;
    case "processes":
      changes = {
        ...changes,
        processes: frame.servers,
        clients: frame.clients,
        coordination: frame.coordination,
        links: frame.links,
      };
      break;
    case "failover":
      changes = { ...changes, failovers: withFailover(frame) };
      break;
    case "counters":
      tallies.push(frame.servers);
      changes = { ...changes, counters: frame.groups, replicated: frame.servers, pipelines: frame.pipelines };
      break;
    case "invariants":
      changes = { ...changes, invariants: frame.invariants };
  }
  schedule();
}

/** Between two frames virtual time passes at the speed that was reached in the last second, where that is known. */
function hearClock({ now_ns, playing, speed, reached }: ClockState): void {
  clock.hear(now_ns, playing ? (reached > 0 ? Math.min(reached, speed) : speed) : 0);
}

function keep(event: LabEvent): void {
  const last = events.last();
  if (last !== undefined && event.seq <= last.seq) return;
  events.push(event);
  if (event.story) stories.push(event);
}

function withFailover(split: Failover): Failover[] {
  const known = changes.failovers ?? useLab.getState().failovers;
  const others = known.filter(({ group, epoch }) => group !== split.group || epoch !== split.epoch);
  return [...others, split].slice(-FAILOVERS_MOST);
}

function onHello(hello: HelloFrame): void {
  if (hello.clock === null) clock.hear(hello.now_ns);
  else hearClock(hello.clock);
  const otherRun = useLab.getState().liveRun !== hello.run;
  if (otherRun) for (const ring of [events, stories, rates, messages, tallies]) ring.clear();
  [fresh, changes] = [[], {}];
  const forgotten = otherRun ? { failovers: [] } : {};
  const { run: liveRun, picture: live, clock: virtual, invariants, verbs, lanes } = hello;
  useLab.setState({ live, liveRun, virtual, invariants, verbs, lanes, ...forgotten });
  void refresh();
}

/** Requests the state that the stream does not carry. */
export async function refresh(): Promise<void> {
  try {
    const [cluster, runs] = await Promise.all([api.cluster(), api.runs()]);
    useLab.setState({ ...factsOf(cluster), runs });
    const failovers = await api.failovers(cluster.run);
    useLab.setState({ failovers: failovers.slice(-FAILOVERS_MOST) });
  } catch (error) {
    if (useLab.getState().connection.state === "live") complain(error);
  }
}

function factsOf(cluster: Cluster): Partial<LabState> {
  const { groups, links, clients, coordination, invariants, servers, nodes, replicated, pipelines } = cluster;
  const counters: LabState["counters"] = {};
  for (const { name, counters: counted } of groups) if (counted !== null) counters[name] = counted;
  return {
    cluster,
    counters,
    replicated,
    pipelines,
    links,
    clients,
    coordination,
    invariants,
    processes: [...servers, ...nodes],
  };
}

/** The only stream of this page. */
export const stream = new Stream({
  onFrame,
  onOpen: () =>
    useLab.setState({ connection: { state: "live", since_ms: performance.now(), retry_at_ms: 0 } }),
  onLost: (retry_ms) => {
    const [now, known] = [performance.now(), useLab.getState().connection];
    const since_ms = known.state === "lost" ? known.since_ms : now;
    useLab.setState({ connection: { state: "lost", since_ms, retry_at_ms: now + retry_ms } });
    if (known.state === "lost") void knowMe();
  },
  lastSeq: () => events.last()?.seq ?? (useLab.getState().live.seq || null),
});
