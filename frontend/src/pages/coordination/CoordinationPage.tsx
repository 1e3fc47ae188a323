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
          <section className="panel" aria-label="Locks">
            <h2>Who holds each lock, and why</h2>
            {view === null || known === null ? (
              <Waiting what="locks" failed={failed || missing} />
            ) : (
              <Locks rows={locksOf(groups, view.nodes, known.changes)} groups={groups} />
            )}
          </section>
          <section className="panel" aria-label="Tree">
            <header className="instrument-head">
              <h2>Coordination tree</h2>
              {view !== null && (
                <span className="soft figures" data-testid="tree-size">
                  {count(view.nodes.length)} nodes
                  {view.left_out > 0 && `; ${count(view.left_out)} more are left out`}
                </span>
              )}
            </header>
            <Failed why={failed} />
            {failed !== "" && view !== null && <p className="soft">This is the tree as it was read last.</p>}
            {view === null ? (
              <Waiting what="tree" failed={failed} />
            ) : (
              <Nodes nodes={view.nodes} noticed={noticed} newest={newest} />
            )}
          </section>
        </div>
        <div className="coordination-column">
          <section className="panel" aria-label="Sessions">
            <h2>Sessions</h2>
            {view === null ? <Waiting what="sessions" failed={failed} /> : <Sessions view={view} />}
          </section>
          <section className="panel" aria-label="Changes">
            <h2>Changes, newest first</h2>
            <Failed why={missing} />
            {known === null ? <Waiting what="changes" failed={missing} /> : <Changes {...known} />}
          </section>
        </div>
      </main>
    </Frame>
  );
}

function Waiting({ what, failed }: { what: string; failed: string }) {
  return failed === "" ? <p className="waiting">Reading the {what}…</p> : null;
}
