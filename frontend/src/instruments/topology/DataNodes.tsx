import type { DataNode } from "../../api/schema";
import { count } from "../../store/time";
import { formatBytes } from "../../ui/bytes";
import type { Geometry } from "./layout";
import { NodeLane, NodePlace, type NodesProps } from "./NodePlace";

const DISK = "M2 3.5C2 2 14 2 14 3.5v9C14 14 2 14 2 12.5Zm0 0C2 5 14 5 14 3.5M2 8c0 1.5 12 1.5 12 0";

/** The data nodes under the servers, with their number of replicas. */
export function DataNodes({
  geometry,
  nodes,
  isSelected,
  ...hands
}: NodesProps<DataNode> & { geometry: Geometry }) {
  if (geometry.dataLane === null) return null;
  const blocks = nodes.reduce((sum, node) => sum + node.blocks, 0);
  const size = nodes.reduce((sum, node) => sum + node.size, 0);
  return (
    <>
      <NodeLane box={geometry.dataLane}>
        <strong>data nodes</strong>
        <span>
          replicas <b>{count(blocks)}</b>
        </span>
        <span>
          kept <b>{formatBytes(size)}</b>
        </span>
      </NodeLane>
      {nodes.map((node) => {
        const box = geometry.nodes[node.name];
        return box === undefined ? null : (
          <NodePlace
            key={node.name}
            {...{ node, box, sign: DISK, selected: isSelected(node.name), ...hands }}
          >
            <span className="figures">
              {count(node.blocks)} {node.blocks === 1 ? "block" : "blocks"}
              {node.damaged > 0 && <b className="node-damaged"> {count(node.damaged)} damaged</b>}
            </span>
            <span className="figures">{formatBytes(node.size)}</span>
          </NodePlace>
        );
      })}
    </>
  );
}
