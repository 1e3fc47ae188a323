import { useCallback, useState } from "react";
import { Costs } from "../instruments/costs";
import { Journals } from "../instruments/journals";
import { Timeline } from "../instruments/timeline";
import { Topology } from "../instruments/topology";
import { Palette } from "../palette/Palette";
import { isLive, useLab } from "../store/store";
import { Tour } from "../tour/Tour";
import { Toasts } from "../ui/Toasts";
import { Banner } from "./Banner";
import { Header } from "./Header";
import { Help } from "./Help";
import { Invariants } from "./Invariants";
import { MomentBar } from "./MomentBar";
import { RunMenu } from "./RunMenu";
import { TimeControl } from "./TimeControl";
import { useKeys } from "./useKeys";

/** The home page: one cluster and its instruments. */
export function ClusterPage() {
  const [help, setHelp] = useState(false);
  const live = useLab(isLive);
  useKeys(useCallback(() => setHelp((shown) => !shown), []));
  return (
    <div className="page">
      <Header onHelp={() => setHelp(true)} />
      <div className="strip">
        <RunMenu />
        <TimeControl />
        <nav aria-label="Invariants">
          <Invariants />
        </nav>
      </div>
      {!live && <MomentBar />}
      <Banner />
      <Tour />
      <main className="instruments">
        <Topology />
        <section className="panel journals" aria-label="Journals">
          <Journals />
        </section>
        <section className="panel" aria-label="Timeline">
          <Timeline />
        </section>
        <Costs />
      </main>
      <Help opened={help} onClose={() => setHelp(false)} />
      <Palette />
      <Toasts />
    </div>
  );
}
