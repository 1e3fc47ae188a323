import { useShallow } from "zustand/react/shallow";
import type { Server } from "../../api/types";
import { shownDataNodes, useLab, usePicture } from "../../store/store";
import { disagreement } from "./ServerCard";

/** The topology as a table, for who reads it with ears. */
export function Mirror({ servers }: { servers: Server[] }) {
  const { groups } = usePicture();
  const nodes = useLab(useShallow(shownDataNodes));
  const connection = useLab((state) => state.connection.state);
  return (
    <div className="visually-hidden">
      <table data-testid="mirror" data-connection={connection}>
        <caption>Servers as they are shown</caption>
        <thead>
          <tr>
            {["Server", "Group", "Role", "Process", "Epoch", "sn", "Applied sn", "Lag", "Lock", "Says"].map(
              (head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ),
            )}
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
              <td>{groups[server.group]?.lock_owner === server.name ? "holds the lock" : ""}</td>
              <td>{[disagreement(server), server.warning].filter(Boolean).join("; ")}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {nodes.length > 0 && (
        <table>
          <caption>Data nodes as they are shown</caption>
          <thead>
            <tr>
              {["Data node", "Process", "Blocks", "Octets", "Damaged"].map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {nodes.map(({ name, process, blocks, octets, damaged }) => (
              <tr
                key={name}
                data-testid={`datanode-${name}`}
                data-process={process}
                data-blocks={blocks}
                data-octets={octets}
              >
                <th scope="row">{name}</th>
                <td>{process}</td>
                <td>{blocks}</td>
                <td>{octets}</td>
                <td>{damaged}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
