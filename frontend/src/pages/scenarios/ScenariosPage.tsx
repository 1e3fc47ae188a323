import { useLab } from "../../store/store";
import { Frame } from "../Frame";
import { ScenarioList } from "./ScenarioList";
import { ScenarioView } from "./ScenarioView";
import "./scenarios.css";
import "./runs.css";

/** The list of scenarios, or one of them. */
export function ScenariosPage() {
  const scenario = useLab((state) => state.scenario);
  return (
    <Frame>
      <main className="scenarios">
        {scenario === "" ? <ScenarioList /> : <ScenarioView key={scenario} file={scenario} />}
      </main>
    </Frame>
  );
}
