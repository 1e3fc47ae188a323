import { plural, t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { useState } from "react";
import { api } from "../../api/client";
import { inCluster } from "../../api/fleet";
import type { FailureRow, Search } from "../../api/schema";
import { isConnected, useLab } from "../../store/store";
import { Failed } from "../../ui/Failed";
import { useAttempt } from "../../ui/useAttempt";
import { FailureSchedule } from "./FailureSchedule";
import { groupsOf, seedWords } from "./groups";

interface Props {
  search: Search;
  onSearch: (search: Search) => void;
}

/** What the search has found, by invariant. */
export function Failures({ search, onSearch }: Props) {
  const { busy, failed, attempt } = useAttempt();
  const connected = useLab(isConnected);
  const shrinking = search.failures.some(({ state }) => state === "shrinking");
  const play = (number: number): void =>
    void attempt(async () => location.assign(inCluster("/", (await api.play(number)).name)));
  const shrink = (number: number): void => void attempt(async () => onSearch(await api.shrink(number)));
  return (
    <section className="panel explore-failures" aria-label={t`Failures`} data-testid="failures">
      <h2>
        {search.failed === 0
          ? t`No failure`
          : plural(search.failed, {
              one: "# failed seed, by invariant",
              other: "# failed seeds, by invariant",
            })}
      </h2>
      <Failed why={failed} />
      {search.failures.length === 0 && <p className="soft">{nothing(search)}</p>}
      {groupsOf(search.failures).map(({ invariant, count, rows }) => (
        <section key={invariant} aria-label={invariant} data-testid={`failed-${invariant}`}>
          <h3>
            {invariant} <span className="soft figures">{seedWords(count)}</span>
          </h3>
          <ul>
            {rows.map((row) => (
              <Row
                key={row.number}
                row={row}
                mayShrink={!busy && !shrinking && connected}
                mayPlay={!busy && connected}
                onShrink={() => shrink(row.number)}
                onPlay={() => play(row.number)}
              />
            ))}
          </ul>
        </section>
      ))}
    </section>
  );
}

function nothing({ state, bug, seeds }: Search): string {
  if (state === "running") return t`Nothing has failed so far.`;
  if (seeds === 0) return t`No seed was run to its end.`;
  return bug === null
    ? t`Every promise held. A clean run is no proof: it shows that no drawn schedule breaks one.`
    : t`The bug was not found in these seeds. Let it run longer, or try other seeds.`;
}

interface RowProps {
  row: FailureRow;
  mayShrink: boolean;
  mayPlay: boolean;
  onShrink: () => void;
  onPlay: () => void;
}

const STATES: Record<FailureRow["state"], (row: FailureRow) => string> = {
  found: () => t`as it was drawn`,
  shrinking: ({ trials }) =>
    plural(trials, { one: "being shrunk, # trial so far", other: "being shrunk, # trials so far" }),
  shrunk: () => t`shrunk: nothing more can be removed`,
  "partly shrunk": () => t`shrunk in part: more may be removed`,
};

function Row({ row, mayShrink, mayPlay, onShrink, onPlay }: RowProps) {
  const [open, setOpen] = useState(false);
  const { number, family, place, count, faults, calls, state, explanation, note } = row;
  return (
    <li data-testid={`failure-${number}`} data-state={state}>
      <p className="failure-line">
        <strong>{family}</strong>
        <span>
          <Trans>seen at {place}</Trans>
        </span>
        <span className="soft figures">{seedWords(count)}</span>
      </p>
      <p className="failure-why">{explanation}</p>
      <p className="failure-line">
        <span className="figures" data-testid={`size-${number}`}>
          <Trans>
            Smallest schedule: <Plural value={faults} one="# fault" other="# faults" />,{" "}
            <Plural value={calls} one="# call" other="# calls" />
          </Trans>
        </span>
        <span className="soft" aria-live="polite">
          {STATES[state](row)}
        </span>
      </p>
      <Failed why={note} />
      <p className="failure-line">
        <button
          type="button"
          className="pill"
          aria-expanded={open}
          data-testid={`show-${number}`}
          onClick={() => setOpen(!open)}
        >
          {open ? t`Hide the schedule` : t`Show the schedule`}
        </button>
        <button
          type="button"
          className="pill"
          disabled={!mayPlay}
          title={t`Opens a simulated cluster that plays this schedule and pauses where the promise is broken`}
          data-testid={`play-${number}`}
          onClick={onPlay}
        >
          <Trans>Play it on the cluster page</Trans>
        </button>
        {state !== "shrunk" && (
          <button
            type="button"
            className="pill"
            disabled={!mayShrink}
            data-testid={`shrink-${number}`}
            onClick={onShrink}
          >
            <Trans>Shrink</Trans>
          </button>
        )}
      </p>
      {open && <FailureSchedule number={number} version={`${state === "shrinking"} ${faults} ${calls}`} />}
    </li>
  );
}
