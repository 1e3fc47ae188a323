import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { Failover } from "../../api/schema";
import { runStart, useLab, useRunWords } from "../../store/store";
import { milliseconds, sinceStart } from "../../store/time";

const MOST = 3;
const PARTS = [
  ["detection_ms", "detection", msg`detection`],
  ["election_ms", "election", msg`election`],
  ["switch_ms", "switch", msg`switch`],
  ["reconnect_ms", "reconnect", msg`reconnect`],
] as const;
const EVIDENCE: Partial<Record<string, MessageDescriptor>> = {
  session: msg`the session ended`,
  silence: msg`the members received nothing`,
  death: msg`the process ended`,
};

/** Duration of each takeover, in the paper's phases. */
export function Failovers({ failovers }: { failovers: readonly Failover[] }) {
  const start_ns = useLab(runStart);
  const several = useLab((state) => Object.keys(state.live.groups).length > 1);
  const { term } = useRunWords();
  if (failovers.length === 0)
    return (
      <p className="quiet">
        <Trans>No takeover in this stretch.</Trans>
      </p>
    );
  const shown = failovers.slice(-MOST);
  return (
    <ol className="failovers" data-testid="failovers">
      {failovers.length > MOST && (
        <li className="quiet">
          <Trans>
            the last {MOST} of {failovers.length} takeovers in this stretch
          </Trans>
        </li>
      )}
      {shown.map((split) => (
        <li key={`${split.group}-${split.epoch}`}>
          <Split split={split} start_ns={start_ns} several={several} term={term} />
        </li>
      ))}
    </ol>
  );
}

interface SplitProps {
  split: Failover;
  start_ns: number;
  several: boolean;
  /** The family's term for an epoch. */
  term: string;
}

/** One takeover: server, time, and its four phases as a bar. */
export function Split({ split, start_ns, several, term }: SplitProps) {
  const evidence = EVIDENCE[split.evidence];
  return (
    <>
      <span className="failover-head">
        {sinceStart(split.fault_ns, start_ns, 1)} {several && `${split.group}: `}
        <b>{split.old || t`nobody`}</b> → <b>{split.new}</b>, {term} {split.epoch}:{" "}
        {milliseconds(split.total_ms)}
        {evidence && ` (${i18n._(evidence)})`}
      </span>
      <span className="failover-bar">
        {PARTS.map(([key, name, label]) => {
          const ms = split[key];
          if (ms === null) return null;
          return (
            <span
              key={key}
              className={`failover-part ${name}`}
              style={{ flexGrow: Math.max(ms, split.total_ms / 200) }}
              title={`${i18n._(label)} ${milliseconds(ms)}`}
            />
          );
        })}
      </span>
      <span className="failover-legend">
        {PARTS.map(([key, name, label]) => (
          <span key={key} className={name}>
            {i18n._(label)} {split[key] === null ? "–" : milliseconds(split[key])}
          </span>
        ))}
      </span>
    </>
  );
}
