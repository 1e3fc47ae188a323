import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { GroupBadge } from "../../ui/GroupBadge";
import type { LockRow } from "./rows";
import { Why } from "./Why";

/** Who holds the lock of each group, and what led to it. */
export function Locks({ rows, groups }: { rows: readonly LockRow[]; groups: readonly string[] }) {
  return (
    <ul className="locks">
      {rows.map(({ group, holder, change }) => (
        <li key={group} data-testid={`lock-${group}`} data-holder={holder ?? ""}>
          <p className="lock-line">
            <GroupBadge name={group} groups={groups} /> <strong>{holderWords(holder)}</strong>
          </p>
          {change === undefined ? (
            <p className="soft">
              <Trans>The change that made it so is older than the events that are searched.</Trans>
            </p>
          ) : (
            <Why change={change} testId={`why-${group}`} />
          )}
        </li>
      ))}
    </ul>
  );
}

function holderWords(holder: string | null): string {
  if (holder === null) return t`has no lock node; the newest change of the group:`;
  return holder === "" ? t`nobody holds the lock` : t`${holder} holds the lock`;
}
