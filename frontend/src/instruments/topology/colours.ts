/** Which colours of messages there are to explain in a cluster. */

import type { Picture } from "../../api/types";
import type { Vocabulary } from "../../families/vocabulary";
import type { Family } from "./draw";

export type Entry = readonly [family: Family, label: string];

/** Servers send their journal to others of their group, or to journal nodes. One that is alone has nobody to send it to. */
export function isReplicated({ servers, groups, journal_nodes }: Picture): boolean {
  return Object.keys(journal_nodes).length > 0 || Object.keys(servers).length > Object.keys(groups).length;
}

export function colours(
  has: { replicated: boolean; groups: boolean; dataNodes: boolean },
  { messages }: Pick<Vocabulary, "messages">,
): Entry[] {
  const entries: Entry[] = [["call", "calls"]];
  if (has.replicated) {
    entries.push(["journal", "journal"], ["takeover", messages.takeover], ["renewing", messages.renewing]);
  }
  if (has.groups) entries.push(["crossing", "between groups"]);
  entries.push(["view", messages.view]);
  if (has.dataNodes) entries.push(["data", "blocks"]);
  return entries;
}
