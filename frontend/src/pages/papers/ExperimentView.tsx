import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useCallback } from "react";
import { api, plotAddress } from "../../api/client";
import type { ExperimentPage } from "../../api/schema";
import { Failed } from "../../ui/Failed";
import { useAsked } from "../../ui/useAsked";
import { BothFigures } from "./BothFigures";
import { PaperLink } from "./PaperLink";

/** One experiment: the paper's figures and ours. */
export function ExperimentView({ name }: { name: string }) {
  const ask = useCallback(() => api.experiment(name), [name]);
  const { answer, failed } = useAsked(ask);
  return (
    <>
      <PaperLink to="" className="paper-back">
        <Trans>← All papers</Trans>
      </PaperLink>
      <Failed why={failed} />
      {answer === null && failed === "" && (
        <p className="waiting">
          <Trans>Reading the experiment…</Trans>
        </p>
      )}
      {answer !== null && <Experiment of={answer} />}
    </>
  );
}

function Experiment({ of }: { of: ExperimentPage }) {
  const { name, ran_at_s, notes, modelled } = of;
  return (
    <article className="panel experiment" aria-label={t`Experiment`}>
      <h2 className="lab-title">{name}</h2>
      <p className="soft">
        {of.short} {of.section}
      </p>
      <p className="lab-goal">{of.asks}</p>
      <p>
        <strong>
          <Trans>The paper:</Trans>
        </strong>{" "}
        {of.saw}
      </p>
      {modelled !== "" && (
        <p className="paper-modelled" data-testid="modelled">
          <strong>
            <Trans>Modelled:</Trans>
          </strong>{" "}
          {modelled}
        </p>
      )}
      <Ran of={of} />
      <BothFigures figures={of.figures} ran={ran_at_s > 0} />
      {ran_at_s > 0 && (
        <img
          className="experiment-plot"
          src={plotAddress(name, ran_at_s)}
          alt={t`Plot of ${name}: the figures above over the setting that varies`}
          data-testid="plot"
        />
      )}
      {notes.map((note) => (
        <p key={note} className="soft">
          {note}
        </p>
      ))}
    </article>
  );
}

/** When it was run here, or how to. */
function Ran({ of: { ran_at_s, quick, command } }: { of: ExperimentPage }) {
  if (ran_at_s === 0)
    return (
      <p data-testid="not-run">
        <Trans>
          It has not been run on this machine, so there are no figures of ours. Run <code>{command}</code>,
          and load this page again.
        </Trans>
      </p>
    );
  return (
    <p className="soft" data-testid="ran">
      <Trans>
        Run here on {new Date(ran_at_s * 1_000).toLocaleString()} by <code>{command}</code>
      </Trans>
      {quick && t`, a quick run for the shape only`}.
    </p>
  );
}
