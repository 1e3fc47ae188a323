import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useRef } from "react";
import { Failed } from "../../ui/Failed";
import { Frame } from "../Frame";
import { BugScores } from "./BugScores";
import { Failures } from "./Failures";
import { isUnderWay } from "./groups";
import { Progress } from "./Progress";
import { SearchForm } from "./SearchForm";
import { useSearch } from "./useSearch";
import { useWish } from "./useWish";
import { withBug } from "./wish";
import "./explore.css";

/** A random search for broken promises: what is searched, how far it is, what it has found, and how good it is at that. */
export function ExplorePage() {
  const { search, failed, put } = useSearch();
  const { chosen, failed: unread, put: putWish } = useWish();
  const bugRef = useRef<HTMLSelectElement>(null);
  return (
    <Frame>
      <main className="explore">
        <SearchForm
          chosen={chosen}
          unread={unread}
          running={search !== null && isUnderWay(search)}
          bugRef={bugRef}
          onWish={putWish}
          onSearch={put}
        />
        <Failed why={failed} />
        {search === null || search.state === "none" ? (
          <section className="panel explore-empty" aria-label={t`Findings`}>
            <h2>
              <Trans>No search yet</Trans>
            </h2>
            <p>
              <Trans>
                A search draws a cluster, its load and faults from each seed, runs them on the simulator, and
                checks the invariants on every event. The safe variants should survive all of it. With a bug
                switched on, it finds a schedule that breaks a promise.
              </Trans>
            </p>
          </section>
        ) : (
          <>
            <Progress search={search} />
            <Failures search={search} onSearch={put} />
          </>
        )}
        {chosen !== null && (
          <BugScores
            bugs={chosen.choices.bugs}
            chosen={chosen.wish.bug}
            onChoose={(bug) => {
              putWish(withBug(chosen.wish, chosen.choices, bug));
              bugRef.current?.focus();
            }}
          />
        )}
      </main>
    </Frame>
  );
}
