import { useShallow } from "zustand/react/shallow";
import type { Group, Server, Vocabulary } from "../../api/schema";
import { shownDataNodes, shownJournalNodes, useLab, usePicture, useWords } from "../../store/store";
import { disagreement } from "./ServerCard";

/** The topology as a table, for screen readers. */
export function Mirror({ servers }: { servers: Server[] }) {
  const { groups } = usePicture();
  const nodes = useLab(useShallow(shownDataNodes));
  const journalNodes = useLab(useShallow(shownJournalNodes));
  const words = useWords();
  const connection = useLab((state) => state.connection.state);
  const verbs = useLab((state) => state.verbs.length);
  return (
    <div className="visually-hidden">
      <table data-testid="mirror" data-connection={connection} data-verbs={verbs}>
        <caption>Servers as they are shown</caption>
        <thead>
          <tr>
            <Heads
              of={[
                "Server",
                "Group",
                "Role",
                "Process",
                words.term,
                words.place,
                `Applied ${words.place}`,
                "Lag",
              ]}
            />
            <th scope="col">{words.locked ? "Lock" : "View"}</th>
            <th scope="col">Says</th>
          </tr>
        </thead>
        <tbody>
          {servers.map((server) => (
            <tr
              key={server.name}
              data-testid={`server-${server.name}`}
              data-group={server.group}
              data-role={server.role}
              data-process={server.process}
              data-sn={server.sn}
              data-applied={server.applied_sn}
              data-epoch={server.epoch}
              data-lag={server.lag}
              data-pid={server.pid}
            >
              <th scope="row">{server.name}</th>
              <td>{server.group}</td>
              <td>{server.role}</td>
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
      {journalNodes.length > 0 && (
        <table>
          <caption>{words.journalNodes} as they are shown</caption>
          <thead>
            <tr>
              <Heads of={["Node", "Process", words.place, words.journalTerm]} />
            </tr>
          </thead>
          <tbody>
            {journalNodes.map(({ name, process, sn, epoch }) => (
              <tr
                key={name}
                data-testid={`journalnode-${name}`}
                data-process={process}
                data-sn={sn}
                data-epoch={epoch}
              >
                <th scope="row">{name}</th>
                <td>{process}</td>
                <td>{sn}</td>
                <td>{epoch}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {nodes.length > 0 && (
        <table>
          <caption>Data nodes as they are shown</caption>
          <thead>
            <tr>
              <Heads of={["Data node", "Process", "Blocks", "Bytes", "Damaged"]} />
            </tr>
          </thead>
          <tbody>
            {nodes.map(({ name, process, blocks, size, damaged }) => (
              <tr
                key={name}
                data-testid={`datanode-${name}`}
                data-process={process}
                data-blocks={blocks}
                data-size={size}
              >
                <th scope="row">{name}</th>
                <td>{process}</td>
                <td>{blocks}</td>
                <td>{size}</td>
                <td>{damaged}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
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
  if (words.locked) return group.lock_owner === name ? "holds the lock" : "";
  return group.configuration.members.includes(name) ? "in the view" : "outside";
}
