import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useState } from "react";
import { api, RESULTS } from "../../api/client";
import type { Wall } from "../../api/schema";
import { Dialog } from "../../ui/Dialog";
import { Failed } from "../../ui/Failed";
import { useAttempt } from "../../ui/useAttempt";

/** The code, readable from the back of the room, and what can be done with the class as a whole. */
export function ClassHead({ wall }: { wall: Wall }) {
  const [ends, setEnds] = useState(false);
  const { busy, failed, attempt } = useAttempt();
  const act = (work: () => Promise<unknown>) =>
    attempt(async () => {
      await work();
      setEnds(false);
    });
  return (
    <header className="panel class-head">
      <div>
        <h2>{wall.name}</h2>
        {wall.open ? (
          <Entrance wall={wall} />
        ) : (
          <p>
            <Trans>This class has ended. Its results stay.</Trans>
          </p>
        )}
      </div>
      {wall.open && wall.joining && (
        <p className="class-code" data-testid="class-code">
          {wall.code}
        </p>
      )}
      <p className="class-acts">
        <a className="pill" href={RESULTS} download data-testid="class-results">
          <Trans>Results as CSV</Trans>
        </a>
        {wall.open && (
          <>
            <button
              type="button"
              className="pill"
              disabled={busy}
              data-testid="class-joining"
              onClick={() => void act(() => api.joining(!wall.joining))}
            >
              {wall.joining ? t`Let nobody else in` : t`Let students in again`}
            </button>
            <button type="button" className="pill" data-testid="class-end" onClick={() => setEnds(true)}>
              <Trans>End the class …</Trans>
            </button>
          </>
        )}
      </p>
      <Failed why={failed} testId="class-failed" />
      <Dialog opened={ends} title={t`End the class?`} onClose={() => setEnds(false)}>
        <p>
          <Trans>Keys and clusters of all {wall.students} students end now. Their results stay.</Trans>
        </p>
        <button
          type="button"
          className="primary danger"
          disabled={busy}
          data-testid="do-class-end"
          onClick={() => void act(api.endClass)}
        >
          <Trans>End the class</Trans>
        </button>
      </Dialog>
    </header>
  );
}

function Entrance({ wall }: { wall: Wall }) {
  if (!wall.joining)
    return (
      <p>
        <Trans>The class takes no more students.</Trans>
      </p>
    );
  return (
    <p>
      <Trans>
        Join at <strong data-testid="class-address">{wall.address}</strong>
      </Trans>
      {!wall.network && (
        <span className="soft">
          {" "}
          <Trans>
            Only this machine gets there. For a network, start with{" "}
            <code>./cloverlab up --listen ADDRESS</code>.
          </Trans>
        </span>
      )}
    </p>
  );
}
