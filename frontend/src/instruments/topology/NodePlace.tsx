import type { ReactNode } from "react";
import type { DataNode, JournalNode } from "../../api/schema";
import type { Box } from "./layout";
import { placed } from "./Places";
import { whereWords } from "./ServerCard";

export interface NodesProps<Kind> {
  nodes: readonly Kind[];
  isSelected: (name: string) => boolean;
  onOpen: (name: string) => void;
  onFocus: (name: string) => void;
}

/** The area under the nodes of one kind, with a summary of them. */
export function NodeLane({ box, children }: { box: Box; children: ReactNode }) {
  return (
    <div className="lane" style={placed(box)}>
      <p className="lane-sign lane-nodes">{children}</p>
    </div>
  );
}

interface PlaceProps {
  node: DataNode | JournalNode;
  box: Box;
  /** Outline of the kind's sign, in a square of 16. */
  sign: string;
  selected: boolean;
  onOpen: (name: string) => void;
  onFocus: (name: string) => void;
  children: ReactNode;
}

/** One node under the servers. */
export function NodePlace({ node, box, sign, selected, onOpen, onFocus, children }: PlaceProps) {
  const { name, process } = node;
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
      title={whereWords(node)}
      aria-haspopup="dialog"
      onClick={() => onOpen(name)}
      onFocus={() => onFocus(name)}
    >
      <span className="node-head">
        <svg viewBox="0 0 16 16" width="1.1rem" height="1.1rem" aria-hidden="true">
          <path d={sign} />
        </svg>
        <strong>{name}</strong> <em>{process === "running" ? "" : process}</em>
      </span>
      {children}
    </button>
  );
}
