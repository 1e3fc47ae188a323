import { Failed } from "../../ui/Failed";
import { Frame } from "../Frame";
import { Failures } from "./Failures";
import { isUnderWay } from "./groups";
import { Progress } from "./Progress";
import { SearchForm } from "./SearchForm";
import { useSearch } from "./useSearch";
import "./explore.css";

/** A random search for broken promises: what is searched, how far it is, and what it has found. */
export function ExplorePage() {
  const { search, failed, put } = useSearch();
  return (
    <Frame>
      <main className="explore">
        <SearchForm running={search !== null && isUnderWay(search)} onSearch={put} />
        <Failed why={failed} />
        {search === null || search.state === "none" ? (
          <section className="panel explore-empty" aria-label="Findings">
            <h2>No search yet</h2>
            <p>
              A search draws a cluster, its load and faults from each seed, runs them on the simulator, and
              checks the invariants on every event. The safe variants should survive all of it. With a bug
              switched on, it finds a schedule that breaks a promise.
            </p>
          </section>
        ) : (
          <>
            <Progress search={search} />
            <Failures search={search} onSearch={put} />
          </>
        )}
      </main>
    </Frame>
  );
}
