/** Which pages there are for whom. */

import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { PageName } from "./store";

/** All pages with their titles, in the order of their links. */
export const PAGES: readonly (readonly [PageName, MessageDescriptor])[] = [
  ["cluster", msg`Cluster`],
  ["namespace", msg`Namespace`],
  ["pool", msg`Storage pool`],
  ["checkpoints", msg`Checkpoints`],
  ["coordination", msg`Coordination`],
  ["scenarios", msg`Scenarios`],
  ["compare", msg`Compare`],
  ["explore", msg`Explore`],
  ["labs", msg`Labs`],
  ["papers", msg`Papers`],
  ["class", msg`Class`],
];

/** Pages of which the control plane gives a student nothing. */
const FOR_INSTRUCTORS: readonly PageName[] = ["scenarios", "compare", "explore", "class"];

/** Whether the cluster's family has the page, and the person who uses it, who is a student or, without a name, the instructor. */
export function isOpen(page: PageName, student: string, lacks: readonly string[]): boolean {
  return !lacks.includes(page) && (student === "" || !FOR_INSTRUCTORS.includes(page));
}
