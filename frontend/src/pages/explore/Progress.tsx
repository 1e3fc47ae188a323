import type { Search } from "../../api/schema";
import { count } from "../../store/time";
import { Fact } from "../../ui/Fact";
import { CourseChart } from "./CourseChart";
import { coverageOf, rateOf } from "./course";
import { clock, shareOf, subjectOf } from "./groups";

const STATES: Record<Search["state"], string> = {
  none: "",
  running: "runs",
  ended: "is over",
  stopped: "was stopped",
  failed: "failed",
};

/** The live figures of a search and their course. */
export function Progress({ search }: { search: Search }) {
  const { state, note, took_s, left_s } = search;
  const left = state === "running" && left_s !== null ? `${clock(left_s)} left` : "";
  return (
    <section className="panel explore-progress" aria-label="Progress" data-testid="search" data-state={state}>
      <header className="instrument-head">
        <h2>The search {STATES[state]}</h2>
        <p className="soft">{subjectOf(search)}</p>
      </header>
      {note !== "" && <p className={state === "failed" ? "act-failed" : "soft"}>{note}</p>}
      <progress value={shareOf(search)} max={1} aria-label="Share of the search that is done" />
      <dl className="explore-figures">
        <Fact name="Seeds" value={count(search.seeds)} />
        <Fact name="Seeds a second" value={search.seeds_per_s.toFixed(1)} />
        <Fact name="Features reached" value={count(search.coverage)} />
        <Fact name="Calls answered" value={`${count(search.answered)} of ${count(search.calls)}`} />
        <Fact name="Facts checked" value={count(search.checked)} />
        <Fact name="Beyond the promise" value={count(search.beyond)} />
        <Fact name="Failed" value={count(search.failed)} />
        <Fact name="Time" value={[clock(took_s), left].filter(Boolean).join(", ")} />
      </dl>
      <div className="explore-charts">
        <CourseChart title="Features reached" spots={coverageOf(search.curve)} />
        <CourseChart title="Seeds a second" spots={rateOf(search.curve)} />
      </div>
    </section>
  );
}
