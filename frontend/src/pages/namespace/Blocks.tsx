import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useCallback } from "react";
import { useShallow } from "zustand/react/shallow";
import { api } from "../../api/client";
import type { FileBlock } from "../../api/schema";
import { useLab } from "../../store/store";
import { count } from "../../store/time";
import { useFollowed } from "../../store/useFollowed";
import { formatBytes } from "../../ui/bytes";
import { Sign } from "../../ui/Sign";
import { healthWords, nodesOf, REPLICA, summary } from "./replicas";

const KINDS = new Set([
  ...["BlockHealth", "DataNodeLost", "ReplicaStored", "ReplicaDamaged", "ReplicaRemoved", "FaultInjected"],
  ...["FaultEnded", "Started", "Serving"],
]);

/** The blocks of a file, and the data nodes that have them. */
export function Blocks({ path }: { path: string }) {
  const ask = useCallback((signal: AbortSignal) => api.blocks(path, signal), [path]);
  const { answer, failed } = useFollowed(ask, KINDS);
  const all = useLab(
    useShallow(({ live }) =>
      Object.values(live.nodes).flatMap(({ kind, name }) => (kind === "data_node" ? [name] : [])),
    ),
  );
  const known = answer?.path === path ? answer : null;
  if (known === null)
    return <p className={failed === "" ? "soft" : "act-failed"}>{failed || t`Looking up its blocks…`}</p>;
  const nodes = nodesOf(known.blocks, all);
  return (
    <div className="blocks" data-testid="blocks">
      <p>
        {summary(known)}
        {known.writing && t` A writer holds it.`}
        {failed !== "" && <span className="act-failed"> {failed}</span>}
      </p>
      {known.blocks.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">
                <Trans>block</Trans>
              </th>
              <th scope="col">
                <Trans>length</Trans>
              </th>
              {nodes.map((node) => (
                <th key={node} scope="col">
                  {node}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {known.blocks.map((block) => (
              <BlockRow key={block.number} block={block} nodes={nodes} replication={known.replication} />
            ))}
          </tbody>
        </table>
      )}
      {known.more && (
        <p className="soft">
          <Trans>The first {count(known.blocks.length)} are shown.</Trans>
        </p>
      )}
    </div>
  );
}

interface RowProps {
  block: FileBlock;
  nodes: readonly string[];
  replication: number;
}

function BlockRow({ block, nodes, replication }: RowProps) {
  const wrong = healthWords(block, replication);
  return (
    <tr data-testid={`block-${block.number}`} data-health={block.health}>
      <th scope="row" title={t`block ${block.number}, stamp ${block.stamp}`}>
        {block.number.replace(/^(....)0*(?=.)/, "$1·")}
        {wrong !== "" && <span className="block-wrong">{wrong}</span>}
      </th>
      <td>{formatBytes(block.length)}</td>
      {nodes.map((node) => {
        const { tone, sign, meaning: message } = REPLICA[block.replicas[node] ?? "none"];
        const meaning = i18n._(message);
        return (
          <td key={node} data-replica={block.replicas[node] ?? "none"} title={t`${meaning} on ${node}`}>
            <Sign tone={tone}>{sign}</Sign>
            <span className="visually-hidden">{meaning}</span>
          </td>
        );
      })}
    </tr>
  );
}
