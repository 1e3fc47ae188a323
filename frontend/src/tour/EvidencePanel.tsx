import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useEffect, useState } from "react";
import { api, lineOf } from "../api/client";
import type { Evidence, Serving } from "../api/schema";
import { useWords } from "../store/store";
import { count, milliseconds } from "../store/time";

const AGAIN_MS = 1_500;

/** The evidence of a takeover. It is read again while it is shown: calls that waited may return late. */
function useEvidence({ group, epoch }: Serving): { evidence: Evidence | null; failed: string } {
  const [found, setFound] = useState<{ evidence: Evidence | null; failed: string }>({
    evidence: null,
    failed: "",
  });
  useEffect(() => {
    const asked = new AbortController();
    const ask = (): void => {
      api
        .evidence(group, epoch, asked.signal)
        .then((evidence) => setFound({ evidence, failed: "" }))
        .catch(
          (error: unknown) => asked.signal.aborted || setFound((old) => ({ ...old, failed: lineOf(error) })),
        );
    };
    ask();
    const timer = setInterval(ask, AGAIN_MS);
    return () => {
      asked.abort();
      clearInterval(timer);
    };
  }, [group, epoch]);
  return found;
}

/** What became of acknowledged writes and of calls that waited. */
export function EvidencePanel({ serving }: { serving: Serving }) {
  const { place, term } = useWords();
  const { evidence, failed } = useEvidence(serving);
  if (evidence === null) return <p className="soft">{failed || t`Comparing the journals…`}</p>;
  const {
    last_sn,
    last_epoch,
    holders,
    acknowledged,
    found,
    waited,
    answered,
    given_up,
    longest_ms,
    from_sn,
  } = evidence;
  const lost = acknowledged - found;
  const onDisks = holders.join(", ") || t`no server`;
  const longest = answered > 0 ? t`, the longest after ${milliseconds(longest_ms)}` : "";
  return (
    <dl
      className="tour-evidence"
      data-testid="tour-evidence"
      data-found={found}
      data-acknowledged={acknowledged}
    >
      <div>
        <dt>
          <Trans>Last acknowledged write</Trans>
        </dt>
        <dd>
          {last_sn === 0 ? (
            t`no write was acknowledged shortly before`
          ) : (
            <Trans>
              <b>
                {place} {count(last_sn)}
              </b>{" "}
              of {term} {last_epoch}, on the disks of <b>{onDisks}</b>
            </Trans>
          )}
        </dd>
      </div>
      <div>
        <dt>
          <Trans>Acknowledged writes found again</Trans>
        </dt>
        <dd data-lost={lost > 0 || undefined}>
          <b>
            <Trans>
              {count(found)} of {count(acknowledged)}
            </Trans>
          </b>
          {acknowledged > 0 && t`, ${place} ${count(from_sn)} to ${count(last_sn)}`}
          {lost > 0 ? t`: ${count(lost)} are missing` : acknowledged > 0 && t`: none is missing`}
        </dd>
      </div>
      <div>
        <dt>
          <Trans>Calls that waited</Trans>
        </dt>
        <dd>
          {waited === 0 ? (
            t`no call waited`
          ) : (
            <Trans>
              <b>{count(waited)}</b>: {count(answered)} answered afterwards{longest}; {count(given_up)} given
              up by the client
            </Trans>
          )}
        </dd>
      </div>
    </dl>
  );
}
