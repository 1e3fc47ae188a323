import type { JournalNode } from "../../api/schema";
import { useWords } from "../../store/store";
import { count } from "../../store/time";
import type { Geometry } from "./layout";
import { NodeLane, NodePlace, type NodesProps } from "./NodePlace";

const BOOK = "M8 3.5C6 2 3.5 2 2 2.5v10.5c1.5-.5 4-.5 6 1 2-1.5 4.5-1.5 6-1V2.5C12.5 2 10 2 8 3.5Zm0 0V14";

/** The journal nodes or bookies under the servers that share their journal, with the last stored group of each. */
export function JournalNodes({
  geometry,
  nodes,
  isSelected,
  ...hands
}: NodesProps<JournalNode> & { geometry: Geometry }) {
  const words = useWords();
  if (geometry.journalLane === null) return null;
  const running = nodes.filter(({ process }) => process === "running").length;
  return (
    <>
      <NodeLane box={geometry.journalLane}>
        <strong>{words.journalNodes}</strong>
        <span>
          running{" "}
          <b data-testid="journal-nodes-running">
            {running} of {nodes.length}
          </b>
        </span>
        <span className="lane-says">the journal that the servers share</span>
      </NodeLane>
      {nodes.map((node) => {
        const box = geometry.nodes[node.name];
        return box === undefined ? null : (
          <NodePlace
            key={node.name}
            {...{ node, box, sign: BOOK, selected: isSelected(node.name), ...hands }}
          >
            <span className="figures">
              {words.place} {count(node.sn)}
            </span>
            <span className="figures">
              {words.journalTerm} {count(node.epoch)}
            </span>
          </NodePlace>
        );
      })}
    </>
  );
}
