import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type ReactNode, useCallback } from "react";
import { api } from "../../api/client";
import { shownCluster } from "../../api/fleet";
import type { MechanismPage } from "../../api/schema";
import { Costs } from "../../instruments/costs";
import { Journals } from "../../instruments/journals";
import { Timeline } from "../../instruments/timeline";
import { Topology } from "../../instruments/topology";
import { Failed } from "../../ui/Failed";
import { useAsked } from "../../ui/useAsked";
import { ClusterFrame } from "../ClusterFrame";
import { MechanismText } from "./MechanismText";
import { MechanismView } from "./MechanismView";
import { OtherPages } from "./OtherPages";
import { ShownSteps } from "./ShownSteps";

const EVERY_MS = 5_000;
const NOT_THERE = 404;

/** A mechanism beside a cluster that shows it. */
export function ShownPage({ paper }: { paper: string }) {
  const askCluster = useCallback(() => api.paperCluster(shownCluster), []);
  const cluster = useAsked(askCluster, EVERY_MS);
  const ask = useCallback(() => api.mechanism(paper), [paper]);
  const { answer, failed } = useAsked(ask);
  const gone = cluster.failed !== "" && cluster.status === NOT_THERE;
  const another = cluster.answer !== null && `${cluster.answer.paper}/${cluster.answer.mechanism}` !== paper;
  return (
    <ClusterFrame banner={gone ? <Gone /> : undefined}>
      {gone || another ? (
        <main className="papers">
          <MechanismView paper={paper} />
        </main>
      ) : (
        <main className="paper-shown">
          <section className="panel lesson" aria-label={t`Mechanism`}>
            <Failed why={failed} />
            {answer !== null && <Explained mechanism={answer} />}
          </section>
          <div className="paper-instruments">
            <Topology />
            {answer?.look.map((place) => INSTRUMENTS[place]?.())}
          </div>
        </main>
      )}
    </ClusterFrame>
  );
}

/** The instruments below the picture; other places are pages of their own. */
const INSTRUMENTS: Partial<Record<MechanismPage["look"][number], () => ReactNode>> = {
  journals: () => (
    <section key="journals" className="panel journals" aria-label={t`Journals`}>
      <Journals />
    </section>
  ),
  timeline: () => (
    <section key="timeline" className="panel" aria-label={t`Timeline`}>
      <Timeline />
    </section>
  ),
  costs: () => <Costs key="costs" />,
};

function Explained({ mechanism }: { mechanism: MechanismPage }) {
  return (
    <>
      <h2 className="lab-title">{mechanism.name}</h2>
      <p className="lab-goal">{mechanism.about}</p>
      <ShownSteps steps={mechanism.steps} />
      <OtherPages look={mechanism.look} />
      <details className="lab-more" open>
        <summary>
          <Trans>How it works</Trans>
        </summary>
        <MechanismText mechanism={mechanism} />
      </details>
    </>
  );
}

function Gone() {
  return (
    <div className="banner" role="alert" data-testid="cluster-gone">
      <p>
        <Trans>This cluster has ended. Start it again below.</Trans>
      </p>
    </div>
  );
}
