/** The colours of messages that a cluster's legend explains. */

import { t } from "@lingui/core/macro";
import type { Lane, Picture, Vocabulary } from "../../api/schema";
import type { Family } from "./draw";

export type Entry = readonly [family: Family, label: string];

/** Whether the journal is sent: to other servers of the group or to nodes. A single server sends none. */
export function isReplicated({ servers, groups }: Picture, lanes: readonly Lane[]): boolean {
  return (
    lanes.some(({ linked }) => linked === "servers") ||
    Object.keys(servers).length > Object.keys(groups).length
  );
}

export function colours(
  has: { replicated: boolean; groups: boolean; dataNodes: boolean },
  { messages }: Pick<Vocabulary, "messages">,
): Entry[] {
  const entries: Entry[] = [["call", t`calls`]];
  if (has.replicated) {
    entries.push(["journal", t`journal`], ["takeover", messages.takeover], ["renewing", messages.renewing]);
  }
  if (has.groups) entries.push(["crossing", t`between groups`]);
  entries.push(["view", messages.view]);
  if (has.dataNodes) entries.push(["data", t`blocks`]);
  return entries;
}
