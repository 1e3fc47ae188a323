import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useEffect, useState } from "react";
import { api } from "../../api/client";
import type { Behind } from "../../api/schema";
import { isConnected, onlyLooks, useLab } from "../../store/store";
import { count } from "../../store/time";
import { GroupBadge } from "../../ui/GroupBadge";
import type { CheckpointRow } from "./rows";

const COUNT_MS = 2_000;

const STATES: Record<CheckpointRow["state"], { sign: string; word: MessageDescriptor }> = {
  complete: { sign: "✓", word: msg`complete` },
  void: { sign: "✕", word: msg`void` },
  aside: { sign: "↩", word: msg`quarantined` },
  marking: { sign: "…", word: msg`being marked` },
};

interface Props {
  rows: CheckpointRow[];
  groups: readonly string[];
  /** Changes after each marking or recovery. */
  beat: number;
  onRecover: (name: string) => void;
}

/** All checkpoints, the newest first; only a complete one can be recovered. */
export function List({ rows, groups, beat, onRecover }: Props) {
  const connected = useLab(isConnected);
  const looks = useLab(onlyLooks);
  const behind = useBehind(rows, beat);
  if (rows.length === 0)
    return (
      <p className="waiting">
        <Trans>
          No checkpoints yet. A checkpoint marks one consistent moment in all groups, to which the whole
          cluster can go back later.
        </Trans>
      </p>
    );
  return (
    <ul className="checkpoints-list" data-testid="checkpoints">
      {rows.map((row) => (
        <li key={row.name} data-testid={`checkpoint-${row.name}`} data-state={row.state}>
          <div className="checkpoint-line">
            <h3>{row.name}</h3>
            <span className={`checkpoint-state checkpoint-${row.state}`}>
              <span aria-hidden="true">{STATES[row.state].sign}</span> {i18n._(STATES[row.state].word)}
            </span>
            {row.time_ms !== null && (
              <span className="soft figures">{new Date(row.time_ms).toLocaleString()}</span>
            )}
          </div>
          <div className="checkpoint-line">
            {Object.entries(row.barriers).map(([group, sn]) => (
              <span key={group} className="figures">
                <GroupBadge name={group} groups={groups} /> {sn === null ? "–" : t`sn ${count(sn)}`}
              </span>
            ))}
            {row.state === "complete" && (
              <span className="soft figures" data-testid={`behind-${row.name}`}>
                {afterWords(behind[row.name])}
              </span>
            )}
            {row.reason !== "" && <span className="soft">{row.reason}</span>}
          </div>
          {row.state === "complete" && !looks && (
            <button
              type="button"
              className="pill danger"
              disabled={!connected}
              data-testid={`recover-${row.name}`}
              onClick={() => onRecover(row.name)}
            >
              <Trans>Go back…</Trans>
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

function afterWords(known: Behind | undefined): string {
  if (known === undefined) return t`counting the operations after it…`;
  return plural(known.operations, {
    one: `1 operation after it`,
    other: `${count(known.operations)} operations after it`,
  });
}

/** Operations after each complete checkpoint, as counted by the actives; the last counts while they do not answer. */
function useBehind(rows: readonly CheckpointRow[], beat: number): Record<string, Behind> {
  const connected = useLab(isConnected);
  const [known, setKnown] = useState<Record<string, Behind>>({});
  const some = rows.some(({ state }) => state === "complete");
  useEffect(() => {
    if (!some || !connected) return;
    void beat;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const go = async (): Promise<void> => {
      const reported = await api.allBehind(stop.signal).catch(() => null);
      if (stop.signal.aborted) return;
      if (reported !== null) setKnown(Object.fromEntries(reported.map((each) => [each.name, each])));
      timer = setTimeout(() => void go(), COUNT_MS);
    };
    void go();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [some, connected, beat]);
  return known;
}
