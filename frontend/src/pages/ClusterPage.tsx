import { t } from "@lingui/core/macro";
import { Costs } from "../instruments/costs";
import { Journals } from "../instruments/journals";
import { Timeline } from "../instruments/timeline";
import { Topology } from "../instruments/topology";
import { onlyLooks, useLab } from "../store/store";
import { Tour } from "../tour/Tour";
import { ClusterFrame } from "./ClusterFrame";
import { RunMenu } from "./RunMenu";

/** The home page: one cluster and its instruments. */
export function ClusterPage() {
  const looks = useLab(onlyLooks);
  return (
    <ClusterFrame runs={<RunMenu />}>
      {!looks && <Tour />}
      <main className="instruments">
        <Topology />
        <section className="panel journals" aria-label={t`Journals`}>
          <Journals />
        </section>
        <section className="panel" aria-label={t`Timeline`}>
          <Timeline />
        </section>
        <Costs />
      </main>
    </ClusterFrame>
  );
}
