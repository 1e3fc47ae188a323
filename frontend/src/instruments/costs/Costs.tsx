import { useState } from "react";
import type { Vocabulary } from "../../api/schema";
import { isLive, tallies, useLab, useWords } from "../../store/store";
import { count } from "../../store/time";
import { formatBytes } from "../../ui/bytes";
import { RarerKinds } from "../../ui/RarerKinds";
import { type Cost, costBetween, figure, frequent, type Kind, kindsOf } from "./cost";
import "./costs.css";

const STRETCH = 10;
/** Shown before the servers have reported a second time. */
const COUNTING: Shown = { messages: null, size: null, log_writes: null, records_per_batch: null };

type Shown = { [figure in keyof Omit<Cost, "writes">]: number | null };

/** Messages, bytes and log writes per write; empty for the past, and before a server has reported. */
export function Costs() {
  const replicated = useLab((state) => state.replicated);
  const live = useLab(isLive);
  const words = useWords();
  const lanes = useLab((state) => state.lanes);
  if (!live || Object.keys(replicated).length === 0) return null;
  const stretch = Math.min(STRETCH, tallies.length - 1);
  const before = tallies.at(tallies.length - 1 - stretch) ?? {};
  const kinds = kindsOf(before, replicated);
  const others = lanes.filter(({ counted }) => counted).map(({ label }) => `, each ${label} included`);
  return (
    <section className="panel costs" aria-label="What a write costs" data-testid="costs">
      <header className="instrument-head">
        <h2>What a write costs</h2>
        <span className="legend">
          {stretch > 0 ? `over the last ${stretch} s, all servers${others}` : "counting…"}
        </span>
      </header>
      <div className="costs-body">
        <Figures
          cost={stretch > 0 ? costBetween(before, replicated) : COUNTING}
          alone={kinds.length === 0}
          words={words}
        />
        {kinds.length > 0 && <Kinds kinds={kinds} />}
      </div>
    </section>
  );
}

/** `alone`: the group sends no messages, because it has a single server. */
function Figures({ cost, alone, words }: { cost: Shown | null; alone: boolean; words: Vocabulary }) {
  if (cost === null) return <p className="quiet">No write was acknowledged in these seconds.</p>;
  const sent: [value: number | null, label: string, says: string][] = [
    [cost.messages, "messages", "Messages among the servers for each acknowledged write"],
    [cost.size, "bytes", "Bytes of these messages for each write"],
  ];
  const figures: typeof sent = [
    ...(alone ? [] : sent),
    [cost.log_writes, "log writes", "Synced writes of logs for each acknowledged write"],
    [
      cost.records_per_batch,
      `records in a ${words.batch}`,
      "Of those with records: more under load, because records wait for the batch before",
    ],
  ];
  return (
    <dl className="costs-figures">
      {figures.map(([value, label, says]) => (
        <div key={label} title={says}>
          <dd data-testid={`cost-${label.replaceAll(" ", "-")}`}>{value === null ? "–" : figure(value)}</dd>
          <dt>{label}</dt>
        </div>
      ))}
    </dl>
  );
}

function Kinds({ kinds }: { kinds: Kind[] }) {
  const [all, setAll] = useState(false);
  const some = kinds.slice(0, frequent(kinds));
  return (
    <div>
      <table className="costs-kinds">
        <thead>
          <tr>
            <th scope="col">Sent since each server began</th>
            <th scope="col">for each write</th>
            <th scope="col">messages</th>
            <th scope="col">bytes</th>
          </tr>
        </thead>
        <tbody>
          {(all ? kinds : some).map(({ kind, messages, size, per_write }) => (
            <tr key={kind} data-testid={`sent-${kind}`} data-messages={messages}>
              <th scope="row">{kind}</th>
              <td>{per_write === null ? "–" : figure(per_write)}</td>
              <td>{count(messages)}</td>
              <td>{formatBytes(size)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {some.length < kinds.length && (
        <RarerKinds all={all} rarer={kinds.length - some.length} testId="costs-rare" onAll={setAll} />
      )}
    </div>
  );
}
