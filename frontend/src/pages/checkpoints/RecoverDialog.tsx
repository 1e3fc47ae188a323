import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useEffect, useState } from "react";
import { api, lineOf } from "../../api/client";
import type { Behind } from "../../api/schema";
import { count } from "../../store/time";
import { toast } from "../../store/toasts";
import { Dialog } from "../../ui/Dialog";
import { Failed } from "../../ui/Failed";
import { useAttempt } from "../../ui/useAttempt";

interface Props {
  /** null while the dialog is closed. */
  name: string | null;
  onClose: () => void;
  onDone: () => void;
}

/** Shows the operations that a recovery quarantines, before it begins. */
export function RecoverDialog({ name, onClose, onDone }: Props) {
  return (
    <Dialog opened={name !== null} title={t`Roll back to ${name ?? ""}`} onClose={onClose}>
      {name !== null && <Asking key={name} name={name} onClose={onClose} onDone={onDone} />}
    </Dialog>
  );
}

/** The loss in one sentence. */
export function consequence({ name, operations, groups }: Behind): string {
  const what = plural(operations, { one: "1 operation", other: "# operations" });
  return t`Quarantines ${what} in ${count(groups)} journal groups: everything after ${name}.`;
}

function Asking({ name, onClose, onDone }: { name: string; onClose: () => void; onDone: () => void }) {
  const [behind, setBehind] = useState<Behind | null>(null);
  const { busy, failed, setFailed, attempt } = useAttempt();
  useEffect(() => {
    const stop = new AbortController();
    api
      .behind(name, stop.signal)
      .then(setBehind, (error) => !stop.signal.aborted && setFailed(lineOf(error)));
    return () => stop.abort();
  }, [name, setFailed]);
  const recover = async (): Promise<void> => {
    const { operations, incarnation } = await api.recover(name);
    toast(
      t`The cluster rolls back to ${name}: ${count(operations)} operations quarantined, incarnation ${incarnation}`,
    );
    onDone();
    onClose();
  };
  return (
    <div className="act-form" data-testid="recover-dialog">
      <p>
        <strong data-testid="consequence">
          {behind === null
            ? failed === ""
              ? t`Counting the operations after it…`
              : ""
            : consequence(behind)}
        </strong>
      </p>
      <p>
        <Trans>
          Nothing is deleted: every server keeps the files in its directory <code>aside</code>. All groups
          stop, roll back, and serve again; writes until then are quarantined too. Checkpoints later than{" "}
          {name} are lost with it.
        </Trans>
      </p>
      <Failed why={failed} testId="recover-failed" />
      <div className="act-buttons">
        <button
          type="button"
          className="pill"
          ref={(element) => element?.setAttribute("autofocus", "")}
          onClick={onClose}
        >
          <Trans>Leave it</Trans>
        </button>
        <button
          type="button"
          className="primary danger"
          disabled={busy || behind === null}
          data-testid="do-recover"
          onClick={() => void attempt(recover)}
        >
          {busy ? t`Rolling back…` : t`Roll back to ${name}`}
        </button>
      </div>
    </div>
  );
}
