import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useEffect } from "react";
import { api } from "../../api/client";
import type { Pool } from "../../api/schema";
import { useLab } from "../../store/store";
import { useFollowed } from "../../store/useFollowed";
import { Sign } from "../../ui/Sign";
import { Frame } from "../Frame";
import { Details } from "./Details";
import { Looking } from "./Looking";
import { Matrix } from "./Matrix";
import { cellAt, JOURNAL, MEANING, rowsOf, SIGN, spotOf, TONE } from "./volume";
import "./pool.css";

const KINDS = new Set([
  ...["PoolReported", "ReportRefused", "ReplicasDisagree", "Repairing", "ImageWritten", "ImageShelved"],
  ...["ImageRefused", "JournalPruned", "JournalCorrupt", "Renewing", "RoleChanged", "FaultInjected"],
]);

function ask(signal: AbortSignal): Promise<Pool[]> {
  return api.pool(useLab.getState().liveRun ?? 0, signal);
}

/** The logical volume of every group: files by pool node, replicas that count, repairs in progress. */
export function PoolPage() {
  const { answer: pools, failed } = useFollowed(ask, KINDS);
  const spot = useLab((state) => state.spot);
  useEffect(() => {
    const [first] = pools ?? [];
    const node = Object.keys(first?.nodes ?? {})[0];
    if (first !== undefined && node !== undefined && cellAt(useLab.getState().spot) === null)
      useLab.setState({ spot: spotOf(first.group, node, JOURNAL) });
  }, [pools]);
  return (
    <Frame>
      <main className="pool">
        <div className="pool-groups">
          <Legend />
          {failed !== "" && (
            <p className="pool-failed" role="alert">
              {failed}
            </p>
          )}
          {pools === null
            ? failed === "" && (
                <p className="waiting">
                  <Trans>Reading the reports of the pool nodes…</Trans>
                </p>
              )
            : pools.map((pool) => <Matrix key={pool.group} pool={pool} rows={rowsOf(pool)} />)}
        </div>
        <div className="pool-side">
          <Details pools={pools ?? []} spot={cellAt(spot)} />
          {pools !== null && <Looking groups={pools.map(({ group }) => group)} />}
        </div>
      </main>
    </Frame>
  );
}

function Legend() {
  return (
    <ul className="pool-legend" aria-label={t`Legend`}>
      {(["agrees", "behind", "damaged", "disputed", "repairing", "repaired"] as const).map((state) => (
        <li key={state}>
          <Sign tone={TONE[state]}>{SIGN[state]}</Sign>
          {i18n._(MEANING[state])}
        </li>
      ))}
    </ul>
  );
}
