import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import type { Search } from "../../api/schema";
import { count } from "../../store/time";
import { Fact } from "../../ui/Fact";
import { CourseChart } from "./CourseChart";
import { coverageOf, rateOf } from "./course";
import { clock, shareOf, subjectOf } from "./groups";

const STATES: Record<Search["state"], MessageDescriptor> = {
  none: msg`No search yet`,
  running: msg`The search runs`,
  ended: msg`The search is over`,
  stopped: msg`The search was stopped`,
  failed: msg`The search failed`,
};

/** The live figures of a search and their course. */
export function Progress({ search }: { search: Search }) {
  const { state, note, took_s, left_s } = search;
  const left = state === "running" && left_s !== null ? t`${clock(left_s)} left` : "";
  return (
    <section
      className="panel explore-progress"
      aria-label={t`Progress`}
      data-testid="search"
      data-state={state}
    >
      <header className="instrument-head">
        <h2>{i18n._(STATES[state])}</h2>
        <p className="soft">{subjectOf(search)}</p>
      </header>
      {note !== "" && <p className={state === "failed" ? "act-failed" : "soft"}>{note}</p>}
      <progress value={shareOf(search)} max={1} aria-label={t`Share of the search that is done`} />
      <dl className="explore-figures">
        <Fact name={t`Seeds`} value={count(search.seeds)} />
        <Fact name={t`Seeds a second`} value={search.seeds_per_s.toFixed(1)} />
        <Fact name={t`Features reached`} value={count(search.coverage)} />
        <Fact name={t`Calls answered`} value={t`${count(search.answered)} of ${count(search.calls)}`} />
        <Fact name={t`Facts checked`} value={count(search.checked)} />
        <Fact name={t`Beyond the promise`} value={count(search.beyond)} />
        <Fact name={t`Failed`} value={count(search.failed)} />
        <Fact name={t`Time`} value={[clock(took_s), left].filter(Boolean).join(", ")} />
      </dl>
      <div className="explore-charts">
        <CourseChart title={t`Features reached`} spots={coverageOf(search.curve)} />
        <CourseChart title={t`Seeds a second`} spots={rateOf(search.curve)} />
      </div>
    </section>
  );
}
