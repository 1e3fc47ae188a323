import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { Pool } from "../../api/schema";
import { canAct, onlyLooks, useLab } from "../../store/store";
import { count } from "../../store/time";
import { formatBytes } from "../../ui/bytes";
import { Fact } from "../../ui/Fact";
import { KeyCap } from "../../ui/KeyCap";
import { Sign } from "../../ui/Sign";
import { damage } from "./orders";
import { JOURNAL, MEANING, type Part, type Row, rowsOf, SIGN, TONE } from "./volume";

interface Props {
  pools: Pool[];
  spot: { group: string; node: string; row: string } | null;
}

/** The selected replica, file by file, and a fault that damages it. */
export function Details({ pools, spot }: Props) {
  const pool = pools.find(({ group }) => group === spot?.group);
  const row = pool && rowsOf(pool).find(({ id }) => id === spot?.row);
  return (
    <section
      className="panel details pool-details"
      aria-label={t`The replica under the pointer`}
      data-testid="details"
    >
      {pool === undefined || row === undefined || spot === null || row.cells[spot.node] === undefined ? (
        <p className="soft">
          <Trans>Point at a cell to see its files.</Trans>
        </p>
      ) : (
        <Replicas pool={pool} row={row} node={spot.node} />
      )}
    </section>
  );
}

function Replicas({ pool, row, node }: { pool: Pool; row: Row; node: string }) {
  const cell = row.cells[node];
  if (cell === undefined) return null;
  const journal = pool.files[JOURNAL]?.[node];
  const refused = row.image?.refused[node];
  const doubted = cell.parts.filter(({ replica }) => replica !== null && replica.reason !== "");
  return (
    <>
      <h2>{row.image === null ? t`Journal on ${node}` : t`Image at sn ${count(row.image.sn)} on ${node}`}</h2>
      <p className="pool-verdict" data-testid="verdict">
        <Sign tone={TONE[cell.state]}>{SIGN[cell.state]}</Sign>
        {i18n._(MEANING[cell.state])}
      </p>
      {refused !== undefined && <p className="pool-reason">{refused}</p>}
      {row.image === null && journal !== undefined && (
        <>
          {journal.reason !== "" && <p className="pool-reason">{journal.reason}</p>}
          <dl>
            <Fact name={t`reported`} value={t`sn ${count(journal.first_sn)} to ${count(journal.last_sn)}`} />
            <Fact name={t`size`} value={formatBytes(journal.size)} />
            <Fact name={t`epoch`} value={count(journal.epoch)} />
            <Fact name={t`checksum`} value={hex(journal.checksum)} />
          </dl>
        </>
      )}
      {doubted.map((part) => (
        <Doubted key={part.name} part={part} />
      ))}
      {cell.parts.length > 0 && <Parts parts={cell.parts} />}
      <Damage node={node} row={row} faulted={cell.state === "faulted"} />
    </>
  );
}

/** Reason why a file does not, or did not, count, and the progress of its repair. */
function Doubted({ part: { name, state, replica } }: { part: Part }) {
  if (replica === null) return null;
  const { reason, source, began, offset, size } = replica;
  return (
    <p className="pool-reason" data-testid={`doubt-${name}`}>
      <strong>{name}</strong>: {reason}.
      {source !== "" &&
        ` ${
          state === "repairing"
            ? t`Repair from ${source} from byte ${count(began)} on: ${formatBytes(offset)} of ${formatBytes(size)}.`
            : t`Repaired from ${source} from byte ${count(began)} on.`
        }`}
    </p>
  );
}

function Parts({ parts }: { parts: Part[] }) {
  return (
    <table className="pool-parts-table">
      <thead>
        <tr>
          <th scope="col">
            <Trans>file</Trans>
          </th>
          <th scope="col">
            <Trans>bytes</Trans>
          </th>
          <th scope="col">
            <Trans>whole</Trans>
          </th>
          <th scope="col">
            <Trans>checksum</Trans>
          </th>
          <th scope="col">
            <span className="visually-hidden">
              <Trans>state</Trans>
            </span>
          </th>
        </tr>
      </thead>
      <tbody>
        {parts.map(({ name, state, replica }) => (
          <tr key={name} data-state={state}>
            <th scope="row">{name}</th>
            <td>{replica === null ? "–" : count(replica.size)}</td>
            <td>{replica === null ? "–" : replica.valid >= replica.size ? t`all` : count(replica.valid)}</td>
            <td className="pool-hex">{replica === null ? "–" : hex(replica.checksum)}</td>
            <td title={i18n._(MEANING[state])}>
              <Sign tone={TONE[state]}>{SIGN[state]}</Sign>
              <span className="visually-hidden">{i18n._(MEANING[state])}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Damage({ node, row, faulted }: { node: string; row: Row; faulted: boolean }) {
  const able = useLab(canAct);
  const looks = useLab(onlyLooks);
  const verb = useLab(({ verbs }) => verbs.find((each) => each.verb === "corrupt"));
  const here = row.id === JOURNAL || row.newest;
  return (
    <>
      {verb !== undefined && here && !looks && (
        <div className="details-acts">
          <button
            type="button"
            className="pill danger"
            disabled={!able}
            data-testid="damage"
            onClick={() => void damage(node, row.id)}
          >
            {row.id === JOURNAL ? t`Damage the journal` : t`Damage this image`} <KeyCap>{verb.key}</KeyCap>
          </button>
        </div>
      )}
      {faulted && (
        <p className="soft">
          {row.id === JOURNAL
            ? t`A journal is checked when it is read: at the next start of its server, or when it renews another.`
            : t`A file is checked when it is read. Have all replicas compared, and watch the repair.`}
        </p>
      )}
    </>
  );
}

function hex(checksum: number): string {
  return checksum.toString(16).padStart(8, "0");
}
