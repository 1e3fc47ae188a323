import { shownCluster } from "../../api/fleet";
import { useLab } from "../../store/store";
import { Frame } from "../Frame";
import { ExperimentView } from "./ExperimentView";
import { MechanismView } from "./MechanismView";
import { EXPERIMENTS, isPaperCluster } from "./names";
import { PaperList } from "./PaperList";
import { ShownPage } from "./ShownPage";
import "../labs/labs.css";
import "./papers.css";

/** The list of papers, a mechanism with or without its cluster, or an experiment. */
export function PapersPage() {
  const paper = useLab((state) => state.paper);
  const experiment = paper.startsWith(EXPERIMENTS);
  if (paper !== "" && !experiment && isPaperCluster(shownCluster))
    return <ShownPage key={paper} paper={paper} />;
  return (
    <Frame>
      <main className="papers">
        {paper === "" && <PaperList />}
        {experiment && <ExperimentView key={paper} name={paper.slice(EXPERIMENTS.length)} />}
        {paper !== "" && !experiment && <MechanismView key={paper} paper={paper} />}
      </main>
    </Frame>
  );
}
