/** What a view changed: pure. */

import type { ViewMark } from "../../api/types";

export interface ViewChange extends ViewMark {
  came: string[];
  left: string[];
}

/** The views that came at or after `from_ns`, the newest last, each compared with the one before it in its group. */
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

/** "without mds3", "with mds3 again", or that nobody came or went. */
export function changeWords({ came, left }: ViewChange): string {
  const words = [
    ...(left.length > 0 ? [`without ${left.join(", ")}`] : []),
    ...(came.length > 0 ? [`with ${came.join(", ")}`] : []),
  ];
  return words.join("; ") || "of the same members";
}
