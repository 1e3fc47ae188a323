import type { Recovery } from "../../api/schema";
import { count } from "../../store/time";
import { GroupBadge } from "../../ui/GroupBadge";
import { asideBlocks, asideRows } from "./rows";

/** Data that servers and data nodes quarantined in each recovery, the newest first. */
export function Aside({
  recoveries,
  groups,
}: {
  recoveries: readonly Recovery[];
  groups: readonly string[];
}) {
  return [...recoveries].reverse().map((recovery) => (
    <div key={recovery.incarnation} className="aside" data-testid={`aside-${recovery.incarnation}`}>
      <h3>
        Incarnation {recovery.incarnation}: back to {recovery.checkpoint}
      </h3>
      <table>
        <thead>
          <tr>
            <th scope="col">server</th>
            <th scope="col">operations</th>
            <th scope="col">journal groups</th>
            <th scope="col">barrier</th>
          </tr>
        </thead>
        <tbody>
          {asideRows(recovery).map(({ server, group, groups: cut, operations, sn }) => (
            <tr key={server}>
              <th scope="row">
                <GroupBadge name={group} groups={groups} /> {server}
              </th>
              <td>{count(operations)}</td>
              <td>{count(cut)}</td>
              <td>{sn === null ? "began anew" : `sn ${count(sn)}`}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="soft">
        Kept in <code>aside/{String(recovery.incarnation).padStart(6, "0")}</code> on each server’s disk.
      </p>
      {Object.keys(recovery.data_nodes).length > 0 && (
        <p className="soft" data-testid={`aside-blocks-${recovery.incarnation}`}>
          {asideBlocks(recovery)} Kept in <code>aside</code> on each data node’s disk.
        </p>
      )}
    </div>
  ));
}
