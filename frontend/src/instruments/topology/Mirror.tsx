import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useShallow } from "zustand/react/shallow";
import type { Group, Server, Vocabulary } from "../../api/schema";
import { shownRole } from "../../families/roles";
import { shownLanes, shownNodes, useLab, usePicture, useRunWords } from "../../store/store";
import { disagreement } from "./ServerCard";

/** The topology as a table, for screen readers. */
export function Mirror({ servers }: { servers: Server[] }) {
  const { groups } = usePicture();
  const nodes = useLab(useShallow(shownNodes));
  const lanes = useLab(shownLanes);
  const words = useRunWords();
  const connection = useLab((state) => state.connection.state);
  const verbs = useLab((state) => state.verbs.length);
  return (
    <div className="visually-hidden">
      <table data-testid="mirror" data-connection={connection} data-verbs={verbs}>
        <caption>
          <Trans>Servers as they are shown</Trans>
        </caption>
        <thead>
          <tr>
            <Heads
              of={[
                t`Server`,
                t`Group`,
                t`Role`,
                t`Process`,
                words.term,
                words.place,
                t`Applied ${words.place}`,
                t`Lag`,
              ]}
            />
            <th scope="col">{words.locked ? t`Lock` : t`View`}</th>
            <th scope="col">
              <Trans>Says</Trans>
            </th>
          </tr>
        </thead>
        <tbody>
          {servers.map((server) => (
            <tr
              key={server.name}
              data-testid={`server-${server.name}`}
              data-group={server.group}
              data-role={shownRole(server, groups[server.group]?.configuration.members ?? [])}
              data-process={server.process}
              data-sn={server.sn}
              data-applied={server.applied_sn}
              data-epoch={server.epoch}
              data-lag={server.lag}
              data-pid={server.pid}
            >
              <th scope="row">{server.name}</th>
              <td>{server.group}</td>
              <td>{shownRole(server, groups[server.group]?.configuration.members ?? [])}</td>
              <td>{server.process}</td>
              <td>{server.epoch}</td>
              <td>{server.sn}</td>
              <td>{server.applied_sn}</td>
              <td>{server.lag}</td>
              <td>{standing(words, groups[server.group], server.name)}</td>
              <td>
                {[
                  disagreement(server, words, groups[server.group]?.configuration.members ?? []),
                  server.warning,
                ]
                  .filter(Boolean)
                  .join("; ")}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {lanes.map(({ kind, label, columns }) => (
        <table key={kind}>
          <caption>
            <Trans>{label}s as they are shown</Trans>
          </caption>
          <thead>
            <tr>
              <Heads of={[t`Node`, t`Process`, ...columns.map((column) => column.label)]} />
            </tr>
          </thead>
          <tbody>
            {nodes
              .filter((node) => node.kind === kind)
              .map(({ name, process, figures }) => (
                <tr
                  key={name}
                  data-testid={`node-${name}`}
                  data-process={process}
                  {...Object.fromEntries(columns.map(({ field }) => [`data-${field}`, figures[field]]))}
                >
                  <th scope="row">{name}</th>
                  <td>{process}</td>
                  {columns.map(({ field }) => (
                    <td key={field}>{figures[field]}</td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      ))}
    </div>
  );
}

function Heads({ of }: { of: string[] }) {
  return of.map((head) => (
    <th key={head} scope="col">
      {head}
    </th>
  ));
}

function standing(words: Vocabulary, group: Group | undefined, name: string): string {
  if (group === undefined) return "";
  if (words.locked) return group.lock_owner === name ? t`holds the lock` : "";
  return group.configuration.members.includes(name) ? t`in the view` : t`outside`;
}
