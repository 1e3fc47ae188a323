import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type KeyboardEvent, useEffect, useRef } from "react";
import { useShallow } from "zustand/react/shallow";
import type { Pool, PoolNode } from "../../api/schema";
import { clock, isConnected, onlyLooks, shownServers, useLab } from "../../store/store";
import { count, NS_PER_S } from "../../store/time";
import { formatBytes } from "../../ui/bytes";
import { GroupBadge } from "../../ui/GroupBadge";
import { KeyCap } from "../../ui/KeyCap";
import { RoleMark } from "../../ui/RoleMark";
import { Sign } from "../../ui/Sign";
import { damage, ORDERS, order } from "./orders";
import {
  agoWords,
  besides,
  type Cell,
  cellAt,
  JOURNAL,
  MEANING,
  type Row,
  SIGN,
  spotOf,
  TONE,
} from "./volume";

interface Props {
  pool: Pool;
  rows: Row[];
}

/** One group's files by pool node; arrow keys move from cell to cell. */
export function Matrix({ pool, rows }: Props) {
  const table = useRef<HTMLTableElement>(null);
  const spot = cellAt(useLab((state) => state.spot));
  const groups = useLab(useShallow((state) => Object.keys(state.live.groups)));
  const connected = useLab(isConnected);
  const orders = useLab(onlyLooks) ? [] : ORDERS;
  const nodes = Object.keys(pool.nodes);
  const own = spot?.group === pool.group && rows.some(({ id }) => id === spot.row) ? spot : null;
  const at = own ?? { group: pool.group, node: nodes[0] ?? "", row: JOURNAL };

  const pointed = own === null ? null : spotOf(own.group, own.node, own.row);
  useEffect(() => {
    if (pointed !== null && document.activeElement === document.body)
      table.current?.querySelector<HTMLElement>(`[data-spot="${pointed}"]`)?.focus({ preventScroll: true });
  }, [pointed]);

  const onKey = (event: KeyboardEvent): void => {
    const { key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const wanted = ORDERS.find((each) => each.key === key.toUpperCase());
    const row = rows.find(({ id }) => id === at.row);
    if (key.startsWith("Arrow") || key === "Home" || key === "End") {
      const to = besides(
        rows.map(({ id }) => id),
        nodes,
        at,
        key,
      );
      useLab.setState({ spot: spotOf(pool.group, to.node, to.row) });
      table.current
        ?.querySelector<HTMLElement>(`[data-spot="${spotOf(pool.group, to.node, to.row)}"]`)
        ?.focus();
    } else if (wanted !== undefined) void order(pool.group, wanted.do);
    else if (key.toUpperCase() === "B" && (at.row === JOURNAL || row?.newest)) void damage(at.node, at.row);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <section className="panel" aria-label={t`Storage pool of ${pool.group}`}>
      <header className="instrument-head pool-head">
        <h2>
          <Trans>
            Storage pool of <GroupBadge name={pool.group} groups={groups} />
          </Trans>
        </h2>
        <span className="pool-orders">
          {orders.map(({ do: what, label, key }) => (
            <button
              key={what}
              type="button"
              className="pill"
              disabled={!connected}
              data-testid={`order-${what}-${pool.group}`}
              onClick={() => void order(pool.group, what)}
            >
              {i18n._(label)} <KeyCap>{key}</KeyCap>
            </button>
          ))}
        </span>
      </header>
      <div className="pool-scroll">
        <table
          ref={table}
          className="pool-matrix"
          aria-label={t`Files of ${pool.group} by pool node`}
          data-testid={`matrix-${pool.group}`}
          onKeyDown={onKey}
        >
          <thead>
            <tr>
              <th scope="col">
                <Trans>file</Trans>
              </th>
              {nodes.map((node) => (
                <th key={node} scope="col">
                  <NodeHead node={pool.nodes[node] as PoolNode} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.id}>
                <th scope="row">
                  <RowHead row={row} />
                </th>
                {nodes.map((node) => (
                  <td key={node}>
                    <CellButton
                      spot={spotOf(pool.group, node, row.id)}
                      cell={row.cells[node] as Cell}
                      label={
                        row.image === null ? t`journal on ${node}` : t`image at sn ${row.image.sn} on ${node}`
                      }
                      current={own?.node === node && own.row === row.id}
                      focusable={at.node === node && at.row === row.id}
                    >
                      {row.image === null && (
                        <Reach node={node} first_sn={pool.files[JOURNAL]?.[node]?.first_sn} />
                      )}
                    </CellButton>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length === 1 && (
        <p className="soft pool-note">
          <Trans>
            No image yet. One is taken when the journal has grown long enough, or now: Take an image.
          </Trans>
        </p>
      )}
    </section>
  );
}

function NodeHead({ node }: { node: PoolNode }) {
  const server = useLab(useShallow(shownServers)).find(({ name }) => name === node.name);
  const now_s = useLab(() => Math.floor(clock.now_ns() / NS_PER_S));
  const { reported_ns, files, size, refused, renewal } = node;
  return (
    <span className="pool-node">
      <span className="pool-node-name">
        {server !== undefined && <RoleMark role={server.role} size="1.5rem" />}
        <strong>{node.name}</strong>
        <span className="soft">{server?.process === "running" ? server.role : server?.process}</span>
      </span>
      {renewal !== null ? (
        <span className="pool-renewal">
          <Trans>
            renewed from the {renewal.phase}: sn {count(renewal.sn)} of {count(renewal.goal_sn)}
          </Trans>
          <Progress share={renewal.goal_sn > 0 ? renewal.sn / renewal.goal_sn : 0} />
        </span>
      ) : (
        <span className="soft figures" title={refused || undefined}>
          {refused !== ""
            ? t`report not believed`
            : reported_ns === 0
              ? t`no report yet`
              : t`${count(files)} files, ${formatBytes(size)}, ${agoWords(now_s - reported_ns / NS_PER_S)}`}
        </span>
      )}
    </span>
  );
}

function RowHead({ row: { image } }: { row: Row }) {
  if (image === null)
    return (
      <strong>
        <Trans>journal</Trans>
      </strong>
    );
  return (
    <span className="pool-file">
      <strong>
        <Trans>image at sn {count(image.sn)}</Trans>
      </strong>
      {image.size > 0 && <span className="soft">{formatBytes(image.size)}</span>}
      {image.writer !== "" && (
        <span className="soft">
          <Trans>
            taken by {image.writer} in {count(image.took_ms)} ms
          </Trans>
        </span>
      )}
    </span>
  );
}

/** The present serial numbers of a journal; its end is the node's own report. */
function Reach({ node, first_sn }: { node: string; first_sn: number | undefined }) {
  const sn = useLab((state) => state.live.servers[node]?.sn ?? 0);
  return (
    <span className="pool-reach figures">
      sn {first_sn === undefined ? "…" : count(Math.max(1, first_sn))}–{count(sn)}
    </span>
  );
}

export function Progress({ share }: { share: number }) {
  return (
    <span className="pool-progress" aria-hidden="true">
      <i style={{ width: `${Math.min(100, Math.max(0, share * 100))}%` }} />
    </span>
  );
}

interface CellProps {
  spot: string;
  cell: Cell;
  label: string;
  current: boolean;
  focusable: boolean;
  children: React.ReactNode;
}

function CellButton({ spot, cell, label, current, focusable, children }: CellProps) {
  return (
    <button
      type="button"
      className={`pool-cell pool-${cell.state}`}
      data-spot={spot}
      data-testid={`cell-${spot}`}
      data-state={cell.state}
      aria-pressed={current}
      tabIndex={focusable ? 0 : -1}
      title={i18n._(MEANING[cell.state])}
      onClick={() => useLab.setState({ spot })}
    >
      <span className="visually-hidden">{label}: </span>
      <span className="pool-words">
        <Sign tone={TONE[cell.state]}>{SIGN[cell.state]}</Sign>
        {cell.words}
      </span>
      {children}
      {cell.parts.length > 0 && (
        <span className="pool-parts" aria-hidden="true">
          {cell.parts.map(({ name, state }) => (
            <i
              key={name}
              className={`pool-part pool-${state} ${name === "manifest" ? "pool-manifest" : ""}`}
            />
          ))}
        </span>
      )}
      {cell.share !== null && <Progress share={cell.share} />}
    </button>
  );
}
