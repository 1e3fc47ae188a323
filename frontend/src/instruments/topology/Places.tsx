import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { Client, Counters, EnsembleServer, Group, Server } from "../../api/schema";
import { isLost, serves } from "../../families/roles";
import { isLive, rates, useLab, useRunWords } from "../../store/store";
import { count, milliseconds } from "../../store/time";
import { type Box, COORDINATION } from "./layout";
import { hasQuorum } from "./rules";
import { whereWords } from "./ServerCard";

export function placed(box: Box) {
  return { left: box.x, top: box.y, width: box.width, height: box.height };
}

interface LaneProps {
  box: Box;
  group: Group | undefined;
  servers: readonly Server[];
  /** Present counters of the group's active; missing for a past moment, or while no active answers. */
  counters: Counters | undefined;
  onOpen: () => void;
}

/** The lane of a replica group, with the group's agreed state. */
export function LaneSign({ box, group, servers, counters, onOpen }: LaneProps) {
  const words = useRunWords();
  if (group === undefined) return null;
  const { name, epoch, commit_sn } = group;
  return (
    <div className="lane" style={placed(box)}>
      <button type="button" className="lane-sign" aria-haspopup="dialog" onClick={onOpen}>
        <strong>{name}</strong>
        <span>
          {words.term} <b data-testid={`epoch-${name}`}>{epoch}</b>
        </span>
        <span>
          {words.settled} {words.place} <b>{count(commit_sn)}</b>
        </span>
        {words.locked ? (
          <Lock group={group} servers={servers} />
        ) : (
          <View group={group} servers={servers.map((server) => server.name)} />
        )}
        {counters !== undefined && <Counted name={name} counters={counters} />}
      </button>
    </div>
  );
}

/** The holder of the lock, which may be a server that does not serve yet. */
function Lock({ group, servers }: { group: Group; servers: readonly Server[] }) {
  const { name, lock_owner } = group;
  const owner = servers.find((server) => server.name === lock_owner);
  if (lock_owner === "")
    return (
      <span className="lane-nobody">
        <Trans>no server holds the lock</Trans>
      </span>
    );
  return (
    <>
      <span>
        <Trans>lock: {lock_owner}</Trans>
      </span>
      {!servers.some(serves) && (
        <span
          className="lane-nobody"
          data-testid={`unserved-${name}`}
          title={
            owner && isLost(owner)
              ? t`${lock_owner} serves no client; another server takes over once the lock is free`
              : t`${lock_owner} serves as soon as enough of the others answer it`
          }
        >
          <Trans>no server serves</Trans>
        </span>
      )}
    </>
  );
}

/** Members of the primary partition, and other servers. */
function View({ group, servers }: { group: Group; servers: readonly string[] }) {
  const { name, configuration } = group;
  const { members } = configuration;
  const outside = servers.filter((server) => !members.includes(server));
  return (
    <>
      <span
        data-testid={`view-${name}`}
        data-number={configuration.number}
        title={t`Servers that count as members now. Only they answer clients, and a write becomes visible once every member has stored it`}
      >
        <Trans>in the view</Trans> <b>{members.join(", ") || t`no server`}</b>
      </span>
      {outside.length > 0 && (
        <span data-testid={`outside-${name}`} className="lane-outside">
          <Trans>
            outside <b>{outside.join(", ")}</b>
          </Trans>
        </span>
      )}
    </>
  );
}

function Counted({ name, counters }: { name: string; counters: Counters }) {
  const several = useLab((state) => Object.keys(state.live.groups).length > 1);
  const { objects, branch_points, open, done, aborted, sent } = counters;
  return (
    <span className={several ? "lane-counted" : ""}>
      <span>
        <Trans>
          objects <b data-testid={`objects-${name}`}>{count(objects)}</b>
        </Trans>
      </span>
      {several && (
        <>
          <span title={t`Names here whose object another group keeps`}>
            <Trans>
              branch points <b data-testid={`branch-points-${name}`}>{count(branch_points)}</b>
            </Trans>
          </span>
          <span
            title={t`Operations on several groups that are not ended here. Since its active began to serve: ${count(done)} done, ${count(aborted)} aborted, ${count(sent)} messages to other groups`}
          >
            <Trans>
              between groups: <b data-testid={`open-${name}`}>{count(open)}</b> open, <b>{count(done)}</b>{" "}
              done
            </Trans>
          </span>
        </>
      )}
    </span>
  );
}

interface IslandProps {
  box: Box;
  inviting: boolean;
  ready: boolean;
  empty: boolean;
  /** Whether servers may be cut off. */
  open: boolean;
}

/** The island for servers that are cut off from all others; a card dropped here is cut off. */
export function IslandSign({ box, inviting, ready, empty, open }: IslandProps) {
  const state = !open ? "" : ready ? "island-ready" : inviting ? "island-inviting" : "";
  return (
    <div
      className={`island ${state} ${empty ? "" : "island-lived"}`}
      style={placed(box)}
      data-testid="island"
    >
      <strong>
        <Trans>Cut off</Trans>
      </strong>
      {empty && open && (
        <span>
          {inviting
            ? t`Let go here to cut it off from all others`
            : t`Drag a server here to cut it off from all others`}
        </span>
      )}
    </div>
  );
}

interface CoordinationProps {
  box: Box;
  narrow: boolean;
  onOpen: (name: string) => void;
}

export function CoordinationCard({ box, narrow, onOpen }: CoordinationProps) {
  const coordination = useLab((state) => state.coordination);
  if (coordination !== null && coordination.servers.length > 0)
    return <Ensemble box={box} narrow={narrow} servers={coordination.servers} onOpen={onOpen} />;
  const says =
    coordination === null ? "" : coordination.embedded ? `pid ${coordination.pid || "–"}` : "ZooKeeper";
  const process = coordination?.process ?? "running";
  return (
    <button
      type="button"
      className="place place-coordination"
      data-process={process}
      style={placed(box)}
      aria-haspopup="dialog"
      onClick={() => onOpen(COORDINATION)}
    >
      <strong>
        <Trans>Coordination</Trans>
      </strong>
      <span>{process === "running" ? says : process}</span>
    </button>
  );
}

type EnsembleProps = CoordinationProps & { servers: EnsembleServer[] };

/** The servers of a ZooKeeper ensemble. */
function Ensemble({ box, narrow, servers, onOpen }: EnsembleProps) {
  const quorum = hasQuorum(servers);
  return (
    <div className="place ensemble" data-quorum={quorum} data-testid="ensemble" style={placed(box)}>
      <button
        type="button"
        className="ensemble-title"
        aria-haspopup="dialog"
        onClick={() => onOpen(COORDINATION)}
      >
        <strong>{narrow ? "ZooKeeper" : t`Coordination: ZooKeeper`}</strong>
        {!quorum && (
          <em>
            <Trans>no quorum</Trans>
          </em>
        )}
      </button>
      <div className="ensemble-servers">
        {servers.map((server) => {
          const says = server.process === "running" ? server.role : server.process;
          return (
            <button
              type="button"
              key={server.name}
              className="ensemble-server"
              data-testid={`ensemble-${server.name}`}
              data-role={server.role}
              data-process={server.process}
              title={`${says}: ${whereWords(server)}`}
              aria-haspopup="dialog"
              onClick={() => onOpen(server.name)}
            >
              <strong>{server.name.replace(/^coordination(?=\d)/, "no. ")}</strong>
              {!narrow && <span>{says}</span>}
            </button>
          );
        })}
      </div>
    </div>
  );
}

const SECOND_OF_RATES = 5;

function lastSecond(): { per_s: number; p99_ms: number | null; failed: number } | null {
  const recent = rates.from(rates.length - SECOND_OF_RATES);
  if (recent.length === 0) return null;
  const span_ms = recent.reduce((sum, rate) => sum + rate.span_ms, 0);
  const per_s = (recent.reduce((sum, rate) => sum + rate.ok, 0) * 1000) / span_ms;
  const failed = recent.reduce((sum, rate) => sum + rate.failed, 0);
  return { per_s, failed, p99_ms: recent.at(-1)?.p99_ms ?? null };
}

interface ClientProps {
  box: Box;
  client: Client;
  onOpen: () => void;
}

export function ClientCard({ box, client, onOpen }: ClientProps) {
  useLab((state) => Math.floor(state.beat / 4));
  const live = useLab(isLive);
  const now = live ? lastSecond() : null;
  const silent = now !== null && now.per_s === 0 && !client.paused;
  return (
    <button
      type="button"
      className={`place place-client ${silent ? "place-silent" : ""}`}
      data-process={client.process}
      style={placed(box)}
      title={whereWords(client)}
      aria-haspopup="dialog"
      onClick={onOpen}
    >
      <strong>{client.name}</strong>
      {now === null ? (
        <span>
          {client.container ? t`container ${client.container.slice(0, 6)}` : `pid ${client.pid || "–"}`}
        </span>
      ) : (
        <>
          <span
            className="place-figure"
            title={t`Calls that succeeded, a second`}
            data-testid={`rate-${client.name}`}
          >
            {count(now.per_s)}{" "}
            <small>
              <Trans>ok/s</Trans>
            </small>
          </span>
          <span>
            {client.paused
              ? t`paused`
              : now.p99_ms === null
                ? t`no answers`
                : `p99 ${milliseconds(now.p99_ms)}`}
          </span>
        </>
      )}
    </button>
  );
}
