import type { DataNode } from "../../api/types";
import { count } from "../../store/time";
import { octetWords } from "../../ui/octets";
import type { Box, Geometry } from "./layout";
import { placed } from "./Places";
import { whereWords } from "./ServerCard";

interface Props {
  geometry: Geometry;
  nodes: readonly DataNode[];
  isSelected: (name: string) => boolean;
  onOpen: (name: string) => void;
  onFocus: (name: string) => void;
}

/** The data nodes under the servers, with how much they keep. */
export function DataNodes({ geometry, nodes, isSelected, onOpen, onFocus }: Props) {
  if (geometry.nodeLane === null) return null;
  const blocks = nodes.reduce((sum, node) => sum + node.blocks, 0);
  const octets = nodes.reduce((sum, node) => sum + node.octets, 0);
  return (
    <>
      <div className="lane" style={placed(geometry.nodeLane)}>
        <p className="lane-sign lane-nodes">
          <strong>data nodes</strong>
          <span>
            replicas <b>{count(blocks)}</b>
          </span>
          <span>
            kept <b>{octetWords(octets)}</b>
          </span>
        </p>
      </div>
      {nodes.map((node) => {
        const box = geometry.nodes[node.name];
        return box === undefined ? null : (
          <NodeCard
            key={node.name}
            node={node}
            box={box}
            selected={isSelected(node.name)}
            onOpen={onOpen}
            onFocus={onFocus}
          />
        );
      })}
    </>
  );
}

interface CardProps {
  node: DataNode;
  box: Box;
  selected: boolean;
  onOpen: (name: string) => void;
  onFocus: (name: string) => void;
}

function NodeCard({ node, box, selected, onOpen, onFocus }: CardProps) {
  const { name, process, blocks, octets, damaged } = node;
  return (
    <button
      type="button"
      id={`card-${name}`}
      data-server-card=""
      data-testid={`card-${name}`}
      data-process={process}
      data-selected={selected || undefined}
      className="place place-node"
      style={placed(box)}
      title={whereWords({ ...node, container: "", image: "" })}
      aria-haspopup="dialog"
      onClick={() => onOpen(name)}
      onFocus={() => onFocus(name)}
    >
      <span className="node-head">
        <svg viewBox="0 0 16 16" width="1.1rem" height="1.1rem" aria-hidden="true">
          <path d="M2 3.5C2 2 14 2 14 3.5v9C14 14 2 14 2 12.500Zm0 0C2 5 14 5 14 3.500M2 8c0 1.500 12 1.500 12 0" />
        </svg>
        <strong>{name}</strong> <em>{process === "running" ? "" : process}</em>
      </span>
      <span className="figures">
        {count(blocks)} {blocks === 1 ? "block" : "blocks"}
        {damaged > 0 && <b className="node-damaged"> {count(damaged)} damaged</b>}
      </span>
      <span className="figures">{octetWords(octets)}</span>
    </button>
  );
}
