/** Changes between views: pure. */

import { t } from "@lingui/core/macro";
import type { ViewMark } from "../../api/schema";

export interface ViewChange extends ViewMark {
  came: string[];
  left: string[];
}

/** Empty for families with a leader, whose configuration changes without views. Number 0 means that no view was installed yet. */
export function viewsOf(views: readonly ViewMark[], locked: boolean): ViewMark[] {
  return locked ? [] : views.filter(({ number }) => number > 0);
}

/** Views installed at or after `from_ns`, the newest last, each compared with the previous one of its group. */
export function viewChanges(views: readonly ViewMark[], from_ns: number): ViewChange[] {
  const before = new Map<string, readonly string[]>();
  const changes: ViewChange[] = [];
  for (const view of views) {
    const known = before.get(view.group) ?? [];
    before.set(view.group, view.members);
    if (view.at_ns < from_ns) continue;
    const came = view.members.filter((name) => !known.includes(name));
    const left = known.filter((name) => !view.members.includes(name));
    changes.push({ ...view, came, left });
  }
  return changes;
}

/** "mds1 and mds2 begin", "mds3 left", "mds3 came in", or no change. */
export function changeWords({ members, came, left }: ViewChange): string {
  if (came.length === members.length) return t`${members.join(", ")} begin`;
  const words = [
    ...(left.length > 0 ? [t`${left.join(", ")} left`] : []),
    ...(came.length > 0 ? [t`${came.join(", ")} came in`] : []),
  ];
  return words.join(", ") || t`no member joined or left`;
}
