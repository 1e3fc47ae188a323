import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useComputedColorScheme } from "@mantine/core";
import { useElementSize, useReducedMotion } from "@mantine/hooks";
import { useCallback, useMemo } from "react";
import { useShallow } from "zustand/react/shallow";
import { marksOf } from "../../actions/inForce";
import { LookingLine } from "../../actions/LookingLine";
import { perform } from "../../actions/perform";
import { listed } from "../../actions/verbs";
import type { Link, Server } from "../../api/schema";
import { layoutOf, reset, shift, shiftsOf, usePlaces } from "../../store/places";
import {
  isLive,
  onlyLooks,
  type Selection,
  shownLanes,
  shownNodes,
  shownPicture,
  shownServers,
  useLab,
  useRunWords,
} from "../../store/store";
import { KeyCap } from "../../ui/KeyCap";
import { useRem } from "../../ui/useRem";
import { Dots } from "./Dots";
import { Legend } from "./Legend";
import { Links } from "./Links";
import { type Geometry, layout, type Point, type Scene } from "./layout";
import { Menu } from "./Menu";
import { Mirror } from "./Mirror";
import { NodeLane } from "./NodeLane";
import { ClientCard, CoordinationCard, IslandSign, LaneSign } from "./Places";
import { adriftOf, gathered, linksOfFaults } from "./rules";
import { ServerCard } from "./ServerCard";
import { Story } from "./Story";
import { useDrag } from "./useDrag";
import { useLasso } from "./useLasso";

const NOBODY: readonly string[] = [];

/** Rules on links at the shown moment. */
function useShownLinks(servers: Server[]): Link[] {
  const live = useLab(isLive);
  const links = useLab((state) => state.links);
  const faults = useLab((state) => shownPicture(state).faults);
  const clients = useLab((state) => state.clients);
  const verbs = useLab((state) => state.verbs);
  const ensemble = useEnsemble();
  const nodes = useLab(useShallow((state) => Object.keys(shownPicture(state).nodes)));
  const names = [...[...servers, ...clients].map(({ name }) => name), ...nodes];
  const serverNames = servers.map(({ name }) => name);
  return gathered(live ? links : linksOfFaults(faults, names, verbs), ensemble, serverNames);
}

/** Faults with which servers and nodes run at the shown moment, by name. */
function useMarks(): Record<string, string> {
  const faults = useLab((state) => shownPicture(state).faults);
  const verbs = useLab((state) => state.verbs);
  return useMemo(() => marksOf(verbs, faults), [verbs, faults]);
}

/** Names of the coordination servers, where each of them is shown. */
function useEnsemble(): string[] {
  return useLab(useShallow((state) => state.coordination?.servers.map(({ name }) => name) ?? []));
}

/** The geometry depends only on names, islands and size: not on every event. */
function useGeometry(servers: Server[], links: Link[], width: number, rem: number): Geometry {
  const clients = useLab((state) => state.clients);
  const members = servers.map(({ name, group }) => `${group}/${name}`).join(" ");
  const clientNames = clients.map(({ name }) => name).join(" ");
  const names = servers.map(({ name }) => name);
  const ensemble = useEnsemble().length;
  const lanes = useLab(shownLanes);
  const nodes = useLab((state) =>
    Object.values(shownPicture(state).nodes)
      .map(({ kind, name }) => `${kind}/${name}`)
      .join(" "),
  );
  const actives = useLab((state) =>
    Object.values(shownPicture(state).groups)
      .map(({ name, active }) => `${name}/${active}`)
      .join(" "),
  );
  const shifts = usePlaces(({ of }) => shiftsOf(of, layoutOf(names)));
  const adrift = [...adriftOf(links, names, clientNames.split(" ").filter(Boolean))].join(" ");
  return useMemo(() => {
    const groups = new Map<string, string[]>();
    for (const member of members.split(" ").filter(Boolean)) {
      const [group = "", name = ""] = member.split("/");
      groups.set(group, [...(groups.get(group) ?? []), name]);
    }
    const active = new Map(actives.split(" ").map((each) => each.split("/") as [string, string]));
    const scene: Scene = {
      groups: [...groups].map(([name, servers]) => ({ name, servers, active: active.get(name) ?? "" })),
      clients: clientNames.split(" ").filter(Boolean),
      adrift: new Set(adrift.split(" ").filter(Boolean)),
      ensemble,
      shifts,
      nodes: lanes.map(({ kind, linked }) => {
        const own = nodes.split(" ").filter((node) => node.startsWith(`${kind}/`));
        return { kind, linked, names: own.map((node) => node.slice(kind.length + 1)) };
      }),
    };
    return layout(scene, width, rem);
  }, [members, actives, clientNames, adrift, ensemble, lanes, nodes, shifts, width, rem]);
}

/** Servers, their links and the messages between them; faults at the pointer. */
export function Topology() {
  const { ref, width } = useElementSize();
  const rem = useRem();
  const servers = useLab(useShallow(shownServers));
  return (
    <section className="panel topology" aria-label={t`Topology`}>
      <Mirror servers={servers} />
      <div ref={ref}>
        {servers.length === 0 ? (
          <Waiting />
        ) : (
          width > 0 && <Stage servers={servers} width={width} rem={rem} />
        )}
      </div>
    </section>
  );
}

function Waiting() {
  const connection = useLab((state) => state.connection.state);
  return (
    <p className="waiting" role="status">
      {connection === "live"
        ? t`The cluster has no servers yet.`
        : t`Waiting for the control plane to answer…`}
    </p>
  );
}

function Stage({ servers, width, rem }: { servers: Server[]; width: number; rem: number }) {
  const links = useShownLinks(servers);
  const geometry = useGeometry(servers, links, width, rem);
  const scheme = useComputedColorScheme("light");
  const still = useReducedMotion();
  const live = useLab(isLive);
  const groups = useLab((state) => shownPicture(state).groups);
  const counters = useLab((state) => state.counters);
  const clients = useLab((state) => state.clients);
  const nodes = useLab(useShallow(shownNodes));
  const lanes = useLab(shownLanes);
  const selection = useLab((state) => state.selection);
  const words = useRunWords();
  const marks = useMarks();
  const looks = useLab(onlyLooks);
  const places = layoutOf(servers.map(({ name }) => name));
  const shifted = usePlaces(({ of }) => Object.keys(shiftsOf(of, places)).length > 0);

  const drop = useCallback(
    (name: string, onIsland: boolean, by: Point) => {
      const adrift = !geometry.links.some(({ a, b }) => a === name || b === name);
      if (!onIsland && !adrift) shift(places, name, { x: by.x / rem, y: by.y / rem });
      else if (onIsland && !adrift) void perform("cut", [name]);
      else if (!onIsland && adrift) void perform("heal", [name]);
    },
    [geometry, places, rem],
  );
  const { drag, grab, wasDrag } = useDrag(geometry, drop);
  const lasso = useLasso(geometry, (names) =>
    useLab.setState({ selection: names.length > 0 ? { kind: "servers", names } : null }),
  );
  const openServer = useCallback(
    (name: string) => {
      if (wasDrag()) return;
      useLab.setState({ selection: { kind: "server", name }, menu: { kind: "server", name } });
    },
    [wasDrag],
  );
  const focusServer = useCallback((name: string) => {
    const { selection: before } = useLab.getState();
    if (before?.kind !== "server" || before.name !== name)
      useLab.setState({ selection: { kind: "server", name } });
  }, []);
  const openLink = useCallback((a: string, b: string) => {
    useLab.setState({ selection: { kind: "link", a, b }, menu: { kind: "link", a, b } });
  }, []);
  const caught = selection?.kind === "servers" ? selection.names : [];

  return (
    <>
      <div
        className="stage"
        style={{ height: geometry.height }}
        onPointerDown={lasso.begin}
        onPointerMove={lasso.extend}
        onPointerUp={lasso.close}
        onPointerCancel={lasso.close}
      >
        {geometry.lanes.map(({ name, box }) => (
          <LaneSign
            key={name}
            box={box}
            group={groups[name]}
            servers={servers.filter((server) => server.group === name)}
            counters={live ? counters[name] : undefined}
            onOpen={() => useLab.setState({ menu: { kind: "group", name } })}
          />
        ))}
        <IslandSign
          box={geometry.island}
          inviting={drag !== null}
          ready={drag?.overIsland ?? false}
          empty={geometry.adrift === 0}
          open={!looks}
        />
        <Links
          geometry={geometry}
          width={width}
          rem={rem}
          links={links}
          moving={live && !still}
          selected={selection?.kind === "link" ? selection : null}
          onOpen={openLink}
        />
        <Dots geometry={geometry} width={width} rem={rem} moving={live && !still} scheme={scheme} />
        <CoordinationCard
          box={geometry.coordination}
          narrow={geometry.narrow}
          onOpen={(name) => useLab.setState({ menu: { kind: "process", name } })}
        />
        {clients.map((client) => {
          const box = geometry.clients[client.name];
          return box === undefined ? null : (
            <ClientCard
              key={client.name}
              box={box}
              client={client}
              onOpen={() => useLab.setState({ menu: { kind: "process", name: client.name } })}
            />
          );
        })}
        {servers.map((server) => {
          const box = geometry.cards[server.name];
          return box === undefined ? null : (
            <ServerCard
              key={server.name}
              server={server}
              box={box}
              compact={geometry.compact}
              selected={isSelected(selection, server.name)}
              words={words}
              members={groups[server.group]?.configuration.members ?? NOBODY}
              marks={marks[server.name] ?? ""}
              holdsLock={groups[server.group]?.lock_owner === server.name}
              dragged={drag?.name === server.name ? drag.at : null}
              onOpen={openServer}
              onFocus={focusServer}
              onGrab={grab}
            />
          );
        })}
        {lanes.map((lane) => (
          <NodeLane
            key={lane.kind}
            lane={lane}
            nodes={nodes.filter(({ kind }) => kind === lane.kind)}
            geometry={geometry}
            marks={marks}
            isSelected={(name) => isSelected(selection, name)}
            onOpen={openServer}
            onFocus={focusServer}
          />
        ))}
        {lasso.loop.length > 1 && (
          <svg className="lasso" aria-hidden="true">
            <polygon points={lasso.loop.map(({ x, y }) => `${x},${y}`).join(" ")} />
          </svg>
        )}
        <Menu geometry={geometry} />
        {caught.length > 0 && <Caught names={caught} />}
        <Legend />
        {shifted && (
          <button type="button" className="pill places-reset" onClick={() => reset(places)}>
            <Trans>Reset positions</Trans>
          </button>
        )}
        {!geometry.narrow && <Story box={geometry.story} />}
      </div>
      {geometry.narrow && <Story />}
    </>
  );
}

function isSelected(selection: Selection | null, name: string): boolean {
  if (selection?.kind === "servers") return selection.names.includes(name);
  return selection?.kind === "server" && selection.name === name;
}

/** Verbs for the servers in the loop. */
function Caught({ names }: { names: string[] }) {
  const looks = useLab(onlyLooks);
  const done = (): void => useLab.setState({ selection: null });
  const cut = (): void => {
    void perform("cut", names, { island: names.length > 1 });
    done();
  };
  return (
    <div className="caught" role="toolbar" aria-label={t`Selected servers`}>
      <strong>{listed(names)}</strong>
      {looks ? (
        <LookingLine />
      ) : (
        <button type="button" className="primary" onClick={cut}>
          <Trans>
            Cut off from the rest <KeyCap>X</KeyCap>
          </Trans>
        </button>
      )}
      <button type="button" className="plain" onClick={done}>
        <Trans>Let go</Trans>
      </button>
    </div>
  );
}
