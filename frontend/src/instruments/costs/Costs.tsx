import { isLive, tallies, useLab } from "../../store/store";
import { count } from "../../store/time";
import { octetWords } from "../../ui/octets";
import { type Cost, costBetween, figure, kindsOf } from "./cost";
import "./costs.css";

const STRETCH = 10;

/** Messages, octets and log writes for each write, of families whose servers count them; nothing for others or of the past. */
export function Costs() {
  const replicated = useLab((state) => state.replicated);
  const live = useLab(isLive);
  if (!live || Object.keys(replicated).length === 0) return null;
  const before = tallies.at(Math.max(0, tallies.length - 1 - STRETCH));
  const cost = before === undefined ? null : costBetween(before, replicated);
  const kinds = kindsOf(replicated);
  return (
    <section className="panel" aria-label="What a write costs" data-testid="costs">
      <header className="instrument-head">
        <h2>What a write costs</h2>
        <span className="legend">over the last {STRETCH} s, all servers of the group together</span>
      </header>
      <Figures cost={cost} />
      <table className="costs-kinds">
        <thead>
          <tr>
            <th scope="col">Sent since each server began</th>
            <th scope="col">messages</th>
            <th scope="col">octets</th>
          </tr>
        </thead>
        <tbody>
          {kinds.map(({ kind, messages, octets }) => (
            <tr key={kind} data-testid={`sent-${kind}`} data-messages={messages}>
              <th scope="row">{kind}</th>
              <td>{count(messages)}</td>
              <td>{octetWords(octets)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Figures({ cost }: { cost: Cost | null }) {
  if (cost === null) return <p className="quiet">No write was answered in this stretch.</p>;
  const figures: [value: number | null, label: string, says: string][] = [
    [cost.messages, "messages", "Messages among the servers for each write that a client was answered"],
    [cost.octets, "octets", "Octets of these messages for each write"],
    [cost.log_writes, "log writes", "Synced writes of logs, on all servers together, for each write"],
    [
      cost.records_per_message,
      "records in a message",
      "Of messages that carry any: more under load, because they wait for the one before",
    ],
  ];
  return (
    <dl className="costs">
      {figures.map(([value, label, says]) => (
        <div key={label} title={says}>
          <dd data-testid={`cost-${label.replaceAll(" ", "-")}`}>{value === null ? "–" : figure(value)}</dd>
          <dt>{label}</dt>
        </div>
      ))}
    </dl>
  );
}
