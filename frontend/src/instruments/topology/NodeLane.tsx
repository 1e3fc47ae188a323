import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { Column, Lane, Node } from "../../api/schema";
import { count } from "../../store/time";
import { formatBytes } from "../../ui/bytes";
import type { Box, Geometry } from "./layout";
import { placed } from "./Places";
import { whereWords } from "./ServerCard";

interface Hands {
  /** Faults with which nodes run, in words, by name. */
  marks: Readonly<Record<string, string>>;
  isSelected: (name: string) => boolean;
  onOpen: (name: string) => void;
  onFocus: (name: string) => void;
}

interface Props extends Hands {
  lane: Lane;
  nodes: readonly Node[];
  geometry: Geometry;
}

export function plural(label: string, of: number): string {
  return of === 1 ? label : `${label}s`;
}

function figure({ unit }: Column, value: number): string {
  return unit === "bytes" ? formatBytes(value) : count(value);
}

/** The nodes of one kind under the servers, with a summary of them. */
export function NodeLane({ lane, nodes, geometry, ...hands }: Props) {
  const box = geometry.nodeLanes[lane.kind];
  if (box === undefined) return null;
  const running = nodes.filter(({ process }) => process === "running").length;
  const sum = (column: Column) => nodes.reduce((total, node) => total + (node.figures[column.field] ?? 0), 0);
  return (
    <>
      <div className="lane" style={placed(box)}>
        <p className="lane-sign lane-nodes">
          <strong>{plural(lane.label, nodes.length)}</strong>
          <span>
            <Trans>
              running{" "}
              <b data-testid={`running-${lane.kind}`}>
                {running} of {nodes.length}
              </b>
            </Trans>
          </span>
          {lane.columns
            .filter(({ summed }) => summed)
            .map((column) => (
              <span key={column.field}>
                {column.label} <b>{figure(column, sum(column))}</b>
              </span>
            ))}
          <span className="lane-says">{lane.says}</span>
        </p>
      </div>
      {nodes.map((node) => {
        const place = geometry.nodes[node.name];
        return place && <NodePlace key={node.name} {...{ lane, node, box: place, ...hands }} />;
      })}
    </>
  );
}

interface PlaceProps extends Hands {
  lane: Lane;
  node: Node;
  box: Box;
}

function NodePlace({ lane, node, box, marks, isSelected, onOpen, onFocus }: PlaceProps) {
  const { name, process, figures } = node;
  const shown = lane.columns.filter(({ bad }) => !bad);
  const damage = lane.columns
    .filter(({ bad, field }) => bad && (figures[field] ?? 0) > 0)
    .map(({ label, field }) => (
      <b key={field} className="node-damaged">
        {` ${count(figures[field] ?? 0)} ${label}`}
      </b>
    ));
  return (
    <button
      type="button"
      id={`card-${name}`}
      data-server-card=""
      data-testid={`card-${name}`}
      data-process={process}
      data-selected={isSelected(name) || undefined}
      className="place place-node"
      style={placed(box)}
      title={whereWords(node)}
      aria-haspopup="dialog"
      onClick={() => onOpen(name)}
      onFocus={() => onFocus(name)}
    >
      <span className="node-head">
        <svg viewBox="0 0 16 16" width="1.1rem" height="1.1rem" aria-hidden="true">
          <path d={lane.sign} />
        </svg>
        <strong>{name}</strong> <em>{process === "running" ? "" : process}</em>
        {marks[name] && (
          <span
            className="card-marks"
            data-testid={`marks-${name}`}
            title={t`Fault in force: ${marks[name]}`}
          >
            {marks[name]}
          </span>
        )}
      </span>
      {shown.map((column, index) => (
        <span key={column.field} className="figures">
          {column.label} {figure(column, figures[column.field] ?? 0)}
          {index === 0 && damage}
        </span>
      ))}
    </button>
  );
}
