import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useState } from "react";
import type { Compared, InvariantStatus, Measured } from "../../api/schema";
import { vocabularyOf } from "../../families/vocabulary";
import { Split } from "../../instruments/timeline/Failovers";
import { RarerKinds } from "../../ui/RarerKinds";
import { Chart } from "./Chart";
import { isCommon, kinds, ROWS } from "./figures";
import { callsPerSecond, slowest } from "./plot";
import { Series } from "./Series";
import { useCompare } from "./store";
import { labels } from "./wish";

const TAKEOVERS_MOST = 6;
const STATES: Record<Compared["state"], MessageDescriptor> = {
  waiting: msg`waits for a free core`,
  running: msg`runs`,
  done: msg`done`,
  failed: msg`failed`,
  cancelled: msg`was cancelled`,
};

/** Results of the comparison so far. */
export function Results() {
  const { comparison, begun, choices } = useCompare();
  if (comparison === null || begun === null)
    return (
      <section className="panel compare-empty" aria-label={t`Results`}>
        <p>
          <Trans>
            Choose a scenario and two to four configurations. Each is simulated with the real server code and
            the same random seed; messages, disk writes and waiting times appear here side by side.
          </Trans>
        </p>
      </section>
    );
  const own = choices?.scenarios.find(({ file }) => file === begun.scenario)?.cluster ?? {};
  const names = labels(begun.changes, own);
  const measured = comparison.configurations.map((each) => each.measured);
  return (
    <section className="panel compare-results" aria-label={t`Results`} data-testid="compare-results">
      <ol className="compare-states" aria-live="polite">
        {comparison.configurations.map((each, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: its place is what it is
          <li key={index} data-state={each.state} data-testid={`result-${index + 1}`}>
            <Series index={index} label={names[index] ?? ""} />
            <span className="soft figures">
              {i18n._(STATES[each.state])}
              {each.state === "running" && each.at_s > 0 && t`, ${each.at_s.toFixed(0)} s of virtual time`}
            </span>
            {each.error !== "" && <span className="compare-error">{each.error}</span>}
          </li>
        ))}
      </ol>
      {measured.some((each) => each !== null) && (
        <>
          <Chart
            title={t`Successful calls per second`}
            measured={measured}
            curve={callsPerSecond}
            scale="linear"
          />
          <Chart title={t`99th percentile of latency, ms`} measured={measured} curve={slowest} scale="log" />
          <Figures names={names} measured={measured} />
          <Takeovers
            names={names}
            measured={measured}
            protocols={begun.changes.map(({ protocol }) => protocol ?? String(own.protocol ?? ""))}
          />
        </>
      )}
    </section>
  );
}

interface Side {
  names: readonly string[];
  measured: readonly (Measured | null)[];
}

function Figures({ names, measured }: Side) {
  return (
    <div className="compare-scroll">
      <table className="compare-table" data-testid="compare-figures">
        <thead>
          <tr>
            <th scope="col">
              <Trans>per configuration</Trans>
            </th>
            {names.map((name, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two may have the same name
              <th scope="col" key={index}>
                <Series index={index} label={name} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {ROWS.map(({ name, says, of, shown }) => (
            <tr key={name.id}>
              <th scope="row">
                {i18n._(name)} <span className="soft">{i18n._(says)}</span>
              </th>
              {measured.map((each, index) => {
                const value = each === null ? null : of(each);
                // biome-ignore lint/suspicious/noArrayIndexKey: its place is what it is
                return <td key={index}>{value === null ? "–" : shown(value)}</td>;
              })}
            </tr>
          ))}
          <tr>
            <th scope="row">
              <Trans>
                invariants <span className="soft">that were checked all along</span>
              </Trans>
            </th>
            {measured.map((each, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: its place is what it is
              <td key={index}>
                {each === null ? (
                  "–"
                ) : (
                  <Verdict invariants={each.invariants as unknown as InvariantStatus[]} />
                )}
              </td>
            ))}
          </tr>
        </tbody>
        <Kinds measured={measured} />
      </table>
    </div>
  );
}

/** Kinds below one message in a hundred calls are behind a button. */
function Kinds({ measured }: Pick<Side, "measured">) {
  const [all, setAll] = useState(false);
  const every = kinds(measured);
  const common = every.filter(isCommon);
  return (
    <tbody>
      <tr className="compare-section">
        <th scope="rowgroup" colSpan={1 + measured.length}>
          <Trans>messages per call, by kind</Trans>
        </th>
      </tr>
      {(all ? every : common).map(({ kind, per_call }) => (
        <tr key={kind} className="compare-kind">
          <th scope="row">{kind}</th>
          {per_call.map((value, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: its place is what it is
            <td key={index} className={value === 0 ? "compare-none" : ""}>
              {value === null ? "–" : value === 0 ? "0" : value.toFixed(3)}
            </td>
          ))}
        </tr>
      ))}
      {common.length < every.length && (
        <tr className="compare-more">
          <td colSpan={1 + measured.length}>
            <RarerKinds all={all} rarer={every.length - common.length} testId="compare-rare" onAll={setAll} />
          </td>
        </tr>
      )}
    </tbody>
  );
}

function Verdict({ invariants }: { invariants: readonly InvariantStatus[] }) {
  const broken = invariants.filter(({ state }) => state === "red");
  if (broken.length === 0)
    return <Trans>✓ {invariants.filter(({ state }) => state === "green").length} held</Trans>;
  return (
    <span className="compare-broken" title={broken.map(({ explanation }) => explanation).join("; ")}>
      ✕ {broken.map(({ invariant }) => invariant).join(", ")}
    </span>
  );
}

function Takeovers({ names, measured, protocols }: Side & { protocols: readonly string[] }) {
  if (measured.every((each) => each === null || each.failovers.length === 0)) return null;
  return (
    <div className="compare-takeovers">
      <h3>
        <Trans>Takeovers</Trans>
      </h3>
      {measured.map((each, index) =>
        each === null ? null : (
          // biome-ignore lint/suspicious/noArrayIndexKey: its place is what it is
          <div key={index}>
            <Series index={index} label={names[index] ?? ""} />
            {each.failovers.length === 0 && (
              <p className="quiet">
                <Trans>none</Trans>
              </p>
            )}
            <ol className="failovers">
              {each.failovers.slice(0, TAKEOVERS_MOST).map((split) => (
                <li key={`${split.group}-${split.epoch}`}>
                  <Split split={split} start_ns={0} several term={vocabularyOf(protocols[index]).term} />
                </li>
              ))}
            </ol>
          </div>
        ),
      )}
    </div>
  );
}
