import { type ComponentType, useCallback, useState } from "react";
import { Topology } from "../instruments/topology";
import { Toasts } from "../ui/Toasts";
import { Banner } from "./Banner";
import { GuideStrip } from "./GuideStrip";
import { Header } from "./Header";
import { Help } from "./Help";
import { Lamps } from "./Lamps";
import { useKeys } from "./useKeys";

type Instrument = Record<string, ComponentType>;

const beneath = import.meta.glob<Instrument>("../instruments/{journals,timeline}/index.ts", { eager: true });
const INSTRUMENTS = Object.values(beneath).flatMap((module) => Object.entries(module));

/** The home page: one cluster, its instruments. */
export function ClusterPage() {
  const [help, setHelp] = useState(false);
  useKeys(useCallback(() => setHelp((shown) => !shown), []));
  return (
    <div className="page">
      <Header onHelp={() => setHelp(true)} />
      <nav aria-label="Invariants">
        <Lamps />
      </nav>
      <Banner />
      <GuideStrip />
      <main className="instruments">
        <Topology />
        {INSTRUMENTS.map(([name, Part]) => (
          <section className="panel" aria-label={name} key={name}>
            <Part />
          </section>
        ))}
      </main>
      <Help opened={help} onClose={() => setHelp(false)} />
      <Toasts />
    </div>
  );
}
