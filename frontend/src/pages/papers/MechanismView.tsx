import { t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { useCallback } from "react";
import { api } from "../../api/client";
import type { MechanismPage } from "../../api/schema";
import { Failed } from "../../ui/Failed";
import { useAsked } from "../../ui/useAsked";
import { useAttempt } from "../../ui/useAttempt";
import { MechanismText } from "./MechanismText";
import { shownAddress } from "./names";
import { PaperLink } from "./PaperLink";

/** A mechanism before its cluster is started. */
export function MechanismView({ paper }: { paper: string }) {
  const ask = useCallback(() => api.mechanism(paper), [paper]);
  const { answer, failed } = useAsked(ask);
  return (
    <>
      <PaperLink to="" className="paper-back">
        <Trans>← All papers</Trans>
      </PaperLink>
      <Failed why={failed} />
      {answer === null && failed === "" && (
        <p className="waiting">
          <Trans>Reading the mechanism…</Trans>
        </p>
      )}
      {answer !== null && (
        <div className="lab-start">
          <section className="panel" aria-label={t`Mechanism`}>
            <h2 className="lab-title">{answer.name}</h2>
            <p className="lab-goal">{answer.about}</p>
            <MechanismText mechanism={answer} />
          </section>
          <aside className="lab-start-side">
            <Start mechanism={answer} />
          </aside>
        </div>
      )}
    </>
  );
}

function Start({ mechanism }: { mechanism: MechanismPage }) {
  const { busy, failed, attempt } = useAttempt();
  const start = (): Promise<void> =>
    attempt(async () => {
      location.assign(shownAddress(await api.openPaperCluster(mechanism.paper, mechanism.mechanism)));
    });
  const { servers, protocol, steps } = mechanism;
  return (
    <section className="panel lab-form" aria-label={t`See it`}>
      <h3>
        <Trans>See it</Trans>
      </h3>
      <p>
        <Trans>
          <Plural value={servers} one="# server" other="# servers" /> of {protocol}, simulated, and a load.
          You can:
        </Trans>
      </p>
      <ul>
        {steps.map(({ text }) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      <Failed why={failed} testId="start-failed" />
      <button
        type="button"
        className="primary"
        disabled={busy}
        data-testid="start-cluster"
        onClick={() => void start()}
      >
        <Trans>Start the cluster</Trans>
      </button>
    </section>
  );
}
