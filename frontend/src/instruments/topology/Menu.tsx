import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Popover } from "@mantine/core";
import { useShallow } from "zustand/react/shallow";
import { VerbList } from "../../actions/VerbList";
import type { Coordination, Process } from "../../api/schema";
import { type Pointed, shownNodes, useLab } from "../../store/store";
import { groupActs, linkActs, processActs, serverActs } from "./acts";
import { along, type Box, boxOf, COORDINATION, type Geometry, type Point } from "./layout";
import { stateOf } from "./rules";
import { pipelineWords, whereWords } from "./ServerCard";

function point(menu: Pointed | null): void {
  useLab.setState({ menu });
}

const close = (): void => point(null);

function around({ x, y }: Point): Box {
  return { x, y, width: 1, height: 1 };
}

/** Element beside which the menu opens, so that it does not hide it. */
function anchorOf(pointed: Pointed, geometry: Geometry): Box {
  if (pointed.kind === "link") {
    const ends = [pointed.a, pointed.b];
    const link = [...geometry.links, ...geometry.bridges, ...geometry.nodeLinks, ...geometry.ways].find(
      ({ a, b }) => ends.includes(a) && ends.includes(b),
    );
    return link === undefined ? boxOf(geometry, pointed.a) : around(along(link.curve, 0.5));
  }
  if (pointed.kind === "group") {
    const box = geometry.lanes.find(({ name }) => name === pointed.name)?.box;
    return around(box === undefined ? { x: 0, y: 0 } : { x: box.x + 40, y: box.y + box.height - 20 });
  }
  return boxOf(geometry, pointed.name);
}

/** The menu of a server, link, group or other process, at the pointer. */
export function Menu({ geometry }: { geometry: Geometry }) {
  const pointed = useLab((state) => state.menu);
  const { x, y, width, height } = pointed === null ? around({ x: 0, y: 0 }) : anchorOf(pointed, geometry);
  return (
    <Popover
      opened={pointed !== null}
      onChange={(opened) => !opened && close()}
      trapFocus
      withRoles={false}
      returnFocus
      withArrow
      position="right-start"
      middlewares={{ flip: true, shift: { padding: 8, crossAxis: true } }}
      shadow="lg"
      width="19rem"
    >
      <Popover.Target>
        <div className="anchor" style={{ left: x, top: y, width, height }} />
      </Popover.Target>
      <Popover.Dropdown
        className="menu"
        role="dialog"
        aria-label={pointed === null ? t`menu` : titleOf(pointed)}
      >
        {pointed !== null && (
          <>
            <h2 className="menu-title">{titleOf(pointed)}</h2>
            <MenuBody key={keyOf(pointed)} pointed={pointed} />
          </>
        )}
      </Popover.Dropdown>
    </Popover>
  );
}

/** Another question opens another menu, even for the same server. */
function keyOf(pointed: Pointed): string {
  return pointed.kind === "server" ? `${pointed.name} ${pointed.asks}` : titleOf(pointed);
}

function titleOf(pointed: Pointed): string {
  return pointed.kind === "link" ? t`Link ${pointed.a} – ${pointed.b}` : pointed.name;
}

function MenuBody({ pointed }: { pointed: Pointed }) {
  const { verbs, links, live, clients, coordination, processes } = useLab();
  const nodes = useLab(useShallow(shownNodes));
  if (verbs.length === 0)
    return (
      <p className="soft">
        <Trans>The control plane has not sent its verbs yet.</Trans>
      </p>
    );
  if (pointed.kind === "link")
    return <VerbList acts={linkActs(verbs, pointed.a, pointed.b, links)} onDone={close} />;
  if (pointed.kind === "group") return <VerbList acts={groupActs(verbs, pointed.name)} onDone={close} />;
  if (pointed.kind === "process") {
    const client = clients.find(({ name }) => name === pointed.name);
    const server = coordination?.servers.find(({ name }) => name === pointed.name);
    const process = client?.process ?? server?.process ?? ensembleProcess(coordination);
    const kind = client === undefined ? "coordination" : "client";
    const where = client ?? server;
    return (
      <>
        {where?.container && <p className="menu-where">{whereWords(where)}</p>}
        <VerbList acts={processActs(verbs, kind, { name: pointed.name, process }, links)} onDone={close} />
      </>
    );
  }
  const ensemble = coordination?.servers.map(({ name }) => name) ?? [];
  const others = [
    ...clients.map(({ name }) => name),
    ...Object.keys(live.servers),
    ...Object.keys(live.nodes),
  ];
  const node = nodes.find(({ name }) => name === pointed.name);
  if (node !== undefined)
    return (
      <>
        {node.warning && <p className="menu-warning">{node.warning}</p>}
        <VerbList acts={processActs(verbs, node.kind, node, links)} onDone={close} />
        <Peers name={node.name} peers={others} />
      </>
    );
  const server = live.servers[pointed.name];
  if (server === undefined)
    return (
      <p className="soft">
        <Trans>{pointed.name} is not part of the live run.</Trans>
      </p>
    );
  const where = processes.find(({ name }) => name === pointed.name);
  if (pointed.asks !== undefined) return <ServerVerbs name={pointed.name} asks={pointed.asks} />;
  return (
    <>
      {server.warning && <p className="menu-warning">{server.warning}</p>}
      {where?.container && <p className="menu-where">{whereWords(where)}</p>}
      <UnderWay name={pointed.name} />
      <ServerVerbs name={pointed.name} />
      <Peers name={server.name} peers={[COORDINATION, ...ensemble, ...others]} />
    </>
  );
}

/** Jobs and locks of a server, where its family has them. */
function UnderWay({ name }: { name: string }) {
  const pipeline = useLab((state) => state.pipelines[name]);
  if (pipeline === undefined) return null;
  return (
    <p className="menu-where" data-testid={`pipeline-${name}`}>
      {pipelineWords(pipeline)}
    </p>
  );
}

/** The links of a server or node, by the other end. */
function Peers({ name, peers }: { name: string; peers: readonly string[] }) {
  const links = useLab((state) => state.links);
  return (
    <>
      <h3 className="menu-section">
        <Trans>Its links</Trans>
      </h3>
      <div className="chips">
        {peers
          .filter((peer) => peer !== name)
          .map((peer) => {
            const { kind } = stateOf(links, name, peer);
            return (
              <button
                type="button"
                key={peer}
                className={`chip chip-${kind}`}
                onClick={() => point({ kind: "link", a: name, b: peer })}
              >
                {peer}
                {kind !== "open" && <span className="soft"> {kind}</span>}
              </button>
            );
          })}
      </div>
    </>
  );
}

/** State of coordination as a whole: paused or stopped when all of its servers are. */
function ensembleProcess(coordination: Coordination | null): Process {
  const states = new Set(coordination?.servers.map(({ process }) => process) ?? []);
  const [only] = states;
  return states.size === 1 && only !== undefined ? only : (coordination?.process ?? "stopped");
}

/** All verbs for a server, or the one verb whose question is open. */
function ServerVerbs({ name, asks }: { name: string; asks?: string }) {
  const { verbs, links, live, processes } = useLab();
  const server = live.servers[name];
  if (server === undefined) return null;
  const process = processes.find((each) => each.name === name)?.process ?? server.process;
  const acts = serverActs(verbs, { ...server, process }, links);
  const shown = acts.filter(({ verb }) => asks === undefined || verb.verb === asks);
  return <VerbList acts={shown} onDone={close} asks={asks} />;
}
