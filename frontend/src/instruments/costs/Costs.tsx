import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
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
  const others = lanes
    .filter(({ counted }) => counted)
    .map(({ label }) => t`, each ${label} included`)
    .join("");
  return (
    <section className="panel costs" aria-label={t`What a write costs`} data-testid="costs">
      <header className="instrument-head">
        <h2>
          <Trans>What a write costs</Trans>
        </h2>
        <span className="legend">
          {stretch > 0 ? t`over the last ${stretch} s, all servers${others}` : t`counting…`}
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
  if (cost === null)
    return (
      <p className="quiet">
        <Trans>No write was acknowledged in these seconds.</Trans>
      </p>
    );
  const sent: [id: string, value: number | null, label: string, says: string][] = [
    ["messages", cost.messages, t`messages`, t`Messages among the servers for each acknowledged write`],
    ["bytes", cost.size, t`bytes`, t`Bytes of these messages for each write`],
  ];
  const figures: typeof sent = [
    ...(alone ? [] : sent),
    ["log-writes", cost.log_writes, t`log writes`, t`Synced writes of logs for each acknowledged write`],
    [
      `records-in-a-${words.batch}`,
      cost.records_per_batch,
      t`records in a ${words.batch}`,
      t`Of those with records: more under load, because records wait for the batch before`,
    ],
  ];
  return (
    <dl className="costs-figures">
      {figures.map(([id, value, label, says]) => (
        <div key={id} title={says}>
          <dd data-testid={`cost-${id}`}>{value === null ? "–" : figure(value)}</dd>
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
            <th scope="col">
              <Trans>Sent since each server began</Trans>
            </th>
            <th scope="col">
              <Trans>for each write</Trans>
            </th>
            <th scope="col">
              <Trans>messages</Trans>
            </th>
            <th scope="col">
              <Trans>bytes</Trans>
            </th>
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
