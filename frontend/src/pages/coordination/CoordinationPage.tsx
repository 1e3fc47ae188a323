import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMemo } from "react";
import { useShallow } from "zustand/react/shallow";
import { useLab } from "../../store/store";
import { count } from "../../store/time";
import { Failed } from "../../ui/Failed";
import { Frame } from "../Frame";
import { Changes } from "./Changes";
import { Locks } from "./Locks";
import { Nodes } from "./Nodes";
import { locksOf, newestByPath } from "./rows";
import { Sessions } from "./Sessions";
import { useChanges } from "./useChanges";
import { useReading } from "./useReading";
import "./coordination.css";

/** The coordination service as it is now: its tree, sessions and watches, and each change with its cause. */
export function CoordinationPage() {
  const { view, failed, noticed } = useReading();
  const { answer: known, failed: missing } = useChanges();
  const groups = useLab(useShallow((state) => Object.keys(state.live.groups)));
  const newest = useMemo(() => newestByPath(known ?? { changes: [], left_out: 0 }), [known]);
  return (
    <Frame>
      <main className="coordination">
        <div className="coordination-column">
          <section className="panel" aria-label={t`Locks`}>
            <h2>
              <Trans>Who holds each lock, and why</Trans>
            </h2>
            {view === null || known === null ? (
              <Waiting asks={t`Reading the locks…`} failed={failed || missing} />
            ) : (
              <Locks rows={locksOf(groups, view.nodes, known.changes)} groups={groups} />
            )}
          </section>
          <section className="panel" aria-label={t`Tree`}>
            <header className="instrument-head">
              <h2>
                <Trans>Coordination tree</Trans>
              </h2>
              {view !== null && (
                <span className="soft figures" data-testid="tree-size">
                  <Trans>{count(view.nodes.length)} nodes</Trans>
                  {view.left_out > 0 && t`; ${count(view.left_out)} more are left out`}
                </span>
              )}
            </header>
            <Failed why={failed} />
            {failed !== "" && view !== null && (
              <p className="soft">
                <Trans>This is the tree as it was read last.</Trans>
              </p>
            )}
            {view === null ? (
              <Waiting asks={t`Reading the tree…`} failed={failed} />
            ) : (
              <Nodes nodes={view.nodes} noticed={noticed} newest={newest} />
            )}
          </section>
        </div>
        <div className="coordination-column">
          <section className="panel" aria-label={t`Sessions`}>
            <h2>
              <Trans>Sessions</Trans>
            </h2>
            {view === null ? (
              <Waiting asks={t`Reading the sessions…`} failed={failed} />
            ) : (
              <Sessions view={view} />
            )}
          </section>
          <section className="panel" aria-label={t`Changes`}>
            <h2>
              <Trans>Changes, newest first</Trans>
            </h2>
            <Failed why={missing} />
            {known === null ? (
              <Waiting asks={t`Reading the changes…`} failed={missing} />
            ) : (
              <Changes {...known} />
            )}
          </section>
        </div>
      </main>
    </Frame>
  );
}

function Waiting({ asks, failed }: { asks: string; failed: string }) {
  return failed === "" ? <p className="waiting">{asks}</p> : null;
}
