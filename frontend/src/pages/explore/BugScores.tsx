import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useState } from "react";
import { api } from "../../api/client";
import type { SearchedBug } from "../../api/schema";
import { count } from "../../store/time";
import { Fact } from "../../ui/Fact";
import { Failed } from "../../ui/Failed";
import { useAsked } from "../../ui/useAsked";
import { ScoreTable } from "./ScoreTable";
import {
  type Order,
  ordered,
  type ScoreRow,
  type ScoreState,
  type ScoreSummary,
  scoreRows,
  seconds,
  summaryOf,
} from "./scores";

interface Props {
  bugs: readonly SearchedBug[];
  /** The bug of the search form. */
  chosen: string;
  onChoose: (bug: string) => void;
}

/** Which known bugs the search found on this machine, and how long that took. */
export function BugScores({ bugs, chosen, onChoose }: Props) {
  const { answer, failed } = useAsked(api.scores);
  return (
    <section className="panel explore-scores" aria-label={t`Mutation scores`} data-testid="scores">
      <header className="instrument-head">
        <h2>
          <Trans>Mutation scores</Trans>
        </h2>
        <p className="soft">
          <Trans>The measured power of the search: how many known bugs it finds, and how soon.</Trans>
        </p>
      </header>
      <Failed why={failed} testId="scores-failed" />
      {answer === null ? (
        failed === "" && (
          <p className="waiting">
            <Trans>Reading the scores…</Trans>
          </p>
        )
      ) : (
        <Measured rows={scoreRows(bugs, answer)} chosen={chosen} onChoose={onChoose} />
      )}
    </section>
  );
}

interface MeasuredProps {
  rows: readonly ScoreRow[];
  chosen: string;
  onChoose: (bug: string) => void;
}

function Measured({ rows, chosen, onChoose }: MeasuredProps) {
  const [shown, setShown] = useState<ScoreState | "all">("all");
  const [order, setOrder] = useState<Order>("hardest");
  const summary = summaryOf(rows);
  if (summary.measured === 0)
    return (
      <p data-testid="scores-none">
        <Trans>
          None of the {rows.length} known bugs was searched for on this machine, so there is no score. Run{" "}
          <code>./cloverlab bench explore bugs</code>, which takes up to a minute for each of them, and load
          this page again.
        </Trans>
      </p>
    );
  const { found, missed, unmeasured } = summary.counts;
  return (
    <>
      <Figures summary={summary} />
      <div className="explore-choices">
        <label>
          <Trans>Show</Trans>
          <select
            value={shown}
            data-testid="scores-shown"
            onChange={({ currentTarget }) => setShown(currentTarget.value as ScoreState | "all")}
          >
            <option value="all">{t`all bugs (${rows.length})`}</option>
            <option value="found" disabled={found === 0}>{t`found (${found})`}</option>
            <option value="missed" disabled={missed === 0}>{t`not found (${missed})`}</option>
            <option
              value="unmeasured"
              disabled={unmeasured === 0}
            >{t`not measured here (${unmeasured})`}</option>
          </select>
        </label>
        <label>
          <Trans>Order</Trans>
          <select
            value={order}
            data-testid="scores-order"
            onChange={({ currentTarget }) => setOrder(currentTarget.value as Order)}
          >
            <option value="hardest">{t`the hardest first`}</option>
            <option value="name">{t`by name`}</option>
          </select>
        </label>
      </div>
      <div className="score-list">
        <ScoreTable
          rows={ordered(rows, order).filter(({ state }) => shown === "all" || state === shown)}
          chosen={chosen}
          onChoose={onChoose}
        />
      </div>
    </>
  );
}

function Figures({ summary }: { summary: ScoreSummary }) {
  const { counts, measured, foundPercent, slowest, jobs, versions } = summary;
  const [first_s, last_s] = summary.measured_s;
  const [from, to] = [localTime(first_s), localTime(last_s)];
  return (
    <>
      <dl className="explore-figures" data-testid="scores-figures">
        <Fact name={t`Found`} value={t`${count(counts.found)} of ${count(measured)} measured`} />
        <Fact name={t`Share found`} value={`${foundPercent} %`} />
        {slowest?.score != null && (
          <Fact name={t`Slowest: ${slowest.bug.name}`} value={seconds(slowest.score.took_s)} />
        )}
        <Fact name={t`Not measured here`} value={count(counts.unmeasured)} />
      </dl>
      <p className="soft explore-measured" data-testid="scores-measured">
        {from === to
          ? t`Measured on this machine at ${from}, version ${versions.join(", ")}.`
          : t`Measured on this machine from ${from} to ${to}, version ${versions.join(", ")}.`}{" "}
        <Trans>
          <code>./cloverlab bench explore bugs</code> switches on one bug after the other, and draws random
          seeds until an invariant is violated, for at most {amounts(summary.limits_s)} s.
        </Trans>{" "}
        {plural(jobs.at(-1) ?? 1, {
          one: "Seconds are of processor time of # process.",
          other: "Seconds are of processor time of each of # processes.",
        })}{" "}
        <Trans>A click on a bug chooses it for a search.</Trans>
      </p>
    </>
  );
}

function localTime(at_s: number): string {
  return new Date(at_s * 1_000).toLocaleString();
}

/** "60", or "1–60". */
function amounts([least, most]: [number, number]): string {
  return least === most ? String(least) : `${least}–${most}`;
}
