import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useCallback, useState } from "react";
import { useShallow } from "zustand/react/shallow";
import { api, lineOf } from "../../api/client";
import type { CheckpointStory, Checkpoints } from "../../api/schema";
import { onlyLooks, useLab } from "../../store/store";
import { useFollowed } from "../../store/useFollowed";
import { Frame } from "../Frame";
import { Aside } from "./Aside";
import { List } from "./List";
import { LastMarking, MarkForm } from "./Marking";
import { RecoverDialog } from "./RecoverDialog";
import { newestOf, rowsOf } from "./rows";
import "./checkpoints.css";
import { Failed } from "../../ui/Failed";

const KINDS = new Set([
  "StepTaken",
  "BarrierWritten",
  "CheckpointOutcome",
  "TakenBack",
  "BlocksSetAside",
  "Serving",
]);

async function ask(
  signal: AbortSignal,
): Promise<{ reported: Checkpoints | null; why: string; story: CheckpointStory }> {
  const [reported, story] = await Promise.allSettled([api.checkpoints(signal), api.checkpointStory(signal)]);
  if (story.status === "rejected") throw story.reason;
  return {
    reported: reported.status === "fulfilled" ? reported.value : null,
    why: reported.status === "rejected" ? lineOf(reported.reason) : "",
    story: story.value,
  };
}

/** Consistent moments of all groups: marks one, and rolls back to one. */
export function CheckpointsPage() {
  const [again, setAgain] = useState(0);
  const { answer, failed } = useFollowed(ask, KINDS, again);
  const [recovering, setRecovering] = useState<string | null>(null);
  const looks = useLab(onlyLooks);
  const groups = useLab(useShallow((state) => Object.keys(state.live.groups)));
  const refresh = useCallback(() => setAgain((count) => count + 1), []);
  const rows = answer === null ? [] : rowsOf(answer.reported?.checkpoints ?? [], answer.story);
  const marking = answer === null ? null : newestOf(answer.story);
  const why = failed || (answer?.why ?? "");
  return (
    <Frame>
      <main className="checkpoints">
        <section className="panel checkpoints-all" aria-label={t`Checkpoints`}>
          <header className="instrument-head">
            <h2>
              <Trans>Checkpoints</Trans>
            </h2>
            {answer?.reported && (
              <span className="soft checkpoints-incarnation" data-testid="incarnation">
                {answer.reported.incarnation === 0
                  ? t`never rolled back`
                  : t`incarnation ${answer.reported.incarnation}, rolled back to ${answer.reported.recovered_to}`}
              </span>
            )}
          </header>
          <Failed why={why} />
          {answer === null ? (
            why === "" && (
              <p className="waiting">
                <Trans>Reading the checkpoints…</Trans>
              </p>
            )
          ) : (
            <List rows={rows} groups={groups} beat={again} onRecover={setRecovering} />
          )}
        </section>
        {(!looks || marking !== null) && (
          <section className="panel" aria-label={t`Mark`}>
            {!looks && (
              <>
                <h2>
                  <Trans>Mark the present state</Trans>
                </h2>
                <MarkForm taken={rows.map(({ name }) => name)} onMarked={refresh} />
              </>
            )}
            {marking !== null && <LastMarking marking={marking} groups={groups} />}
          </section>
        )}
        {(answer?.story.recoveries.length ?? 0) > 0 && (
          <section className="panel checkpoints-aside" aria-label={t`Quarantined files`}>
            <h2>
              <Trans>Quarantined files</Trans>
            </h2>
            <Aside recoveries={answer?.story.recoveries ?? []} groups={groups} />
          </section>
        )}
      </main>
      <RecoverDialog name={recovering} onClose={() => setRecovering(null)} onDone={refresh} />
    </Frame>
  );
}
