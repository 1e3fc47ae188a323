import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
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
        <Trans>
          Incarnation {recovery.incarnation}: back to {recovery.checkpoint}
        </Trans>
      </h3>
      <table>
        <thead>
          <tr>
            <th scope="col">
              <Trans>server</Trans>
            </th>
            <th scope="col">
              <Trans>operations</Trans>
            </th>
            <th scope="col">
              <Trans>journal groups</Trans>
            </th>
            <th scope="col">
              <Trans>barrier</Trans>
            </th>
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
              <td>{sn === null ? t`began anew` : t`sn ${count(sn)}`}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="soft">
        <Trans>
          Kept in <code>aside/{String(recovery.incarnation).padStart(6, "0")}</code> on each server’s disk.
        </Trans>
      </p>
      {Object.keys(recovery.data_nodes).length > 0 && (
        <p className="soft" data-testid={`aside-blocks-${recovery.incarnation}`}>
          <Trans>
            {asideBlocks(recovery)} Kept in <code>aside</code> on each data node’s disk.
          </Trans>
        </p>
      )}
    </div>
  ));
}
