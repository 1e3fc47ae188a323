import type { Pool } from "../../api/schema";
import { canAct, useLab } from "../../store/store";
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
      aria-label="The replica under the pointer"
      data-testid="details"
    >
      {pool === undefined || row === undefined || spot === null || row.cells[spot.node] === undefined ? (
        <p className="soft">Point at a cell to see its files.</p>
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
      <h2>
        {row.image === null ? "Journal" : `Image at sn ${count(row.image.sn)}`} on {node}
      </h2>
      <p className="pool-verdict" data-testid="verdict">
        <Sign tone={TONE[cell.state]}>{SIGN[cell.state]}</Sign>
        {MEANING[cell.state]}
      </p>
      {refused !== undefined && <p className="pool-reason">{refused}</p>}
      {row.image === null && journal !== undefined && (
        <>
          {journal.reason !== "" && <p className="pool-reason">{journal.reason}</p>}
          <dl>
            <Fact name="reported" value={`sn ${count(journal.first_sn)} to ${count(journal.last_sn)}`} />
            <Fact name="size" value={formatBytes(journal.size)} />
            <Fact name="epoch" value={count(journal.epoch)} />
            <Fact name="checksum" value={hex(journal.checksum)} />
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
        ` ${state === "repairing" ? "Repair" : "Repaired"} from ${source} from byte ${count(began)} on${
          state === "repairing" ? `: ${formatBytes(offset)} of ${formatBytes(size)}` : ""
        }.`}
    </p>
  );
}

function Parts({ parts }: { parts: Part[] }) {
  return (
    <table className="pool-parts-table">
      <thead>
        <tr>
          <th scope="col">file</th>
          <th scope="col">bytes</th>
          <th scope="col">whole</th>
          <th scope="col">checksum</th>
          <th scope="col">
            <span className="visually-hidden">state</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {parts.map(({ name, state, replica }) => (
          <tr key={name} data-state={state}>
            <th scope="row">{name}</th>
            <td>{replica === null ? "–" : count(replica.size)}</td>
            <td>{replica === null ? "–" : replica.valid >= replica.size ? "all" : count(replica.valid)}</td>
            <td className="pool-hex">{replica === null ? "–" : hex(replica.checksum)}</td>
            <td title={MEANING[state]}>
              <Sign tone={TONE[state]}>{SIGN[state]}</Sign>
              <span className="visually-hidden">{MEANING[state]}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Damage({ node, row, faulted }: { node: string; row: Row; faulted: boolean }) {
  const able = useLab(canAct);
  const verb = useLab(({ verbs }) => verbs.find((each) => each.verb === "corrupt"));
  const here = row.id === JOURNAL || row.newest;
  return (
    <>
      {verb !== undefined && here && (
        <div className="details-acts">
          <button
            type="button"
            className="pill danger"
            disabled={!able}
            data-testid="damage"
            onClick={() => void damage(node, row.id)}
          >
            {row.id === JOURNAL ? "Damage the journal" : "Damage this image"} <KeyCap>{verb.key}</KeyCap>
          </button>
        </div>
      )}
      {faulted && (
        <p className="soft">
          {row.id === JOURNAL
            ? "A journal is checked when it is read: at the next start of its server, or when it renews another."
            : "A file is checked when it is read. Have all replicas compared, and watch the repair."}
        </p>
      )}
    </>
  );
}

function hex(checksum: number): string {
  return checksum.toString(16).padStart(8, "0");
}
