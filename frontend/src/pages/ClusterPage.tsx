import { useCallback, useState } from "react";
import { Topology } from "../instruments/topology";
import { Toasts } from "../ui/Toasts";
import { Banner } from "./Banner";
import { Header } from "./Header";
import { Help } from "./Help";
import { Lamps } from "./Lamps";
import { useKeys } from "./useKeys";

/** The home page: one cluster, its instruments. */
export function ClusterPage() {
  const [help, setHelp] = useState(false);
  useKeys(useCallback(() => setHelp((shown) => !shown), []));
  return (
    <div className="page">
      <Header onHelp={() => setHelp(true)} />
      <Lamps />
      <Banner />
      <main className="instruments">
        <Topology />
      </main>
      <Help opened={help} onClose={() => setHelp(false)} />
      <Toasts />
    </div>
  );
}
