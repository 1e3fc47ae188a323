/** Which pages there are for whom. */

import type { PageName } from "./store";

/** Pages of which the control plane gives a student nothing. */
const FOR_INSTRUCTORS: readonly PageName[] = ["scenarios", "compare", "explore", "class"];

/** Whether the cluster's family has the page, and the person who uses it, who is a student or, without a name, the instructor. */
export function isOpen(page: PageName, student: string, lacks: readonly string[]): boolean {
  return !lacks.includes(page) && (student === "" || !FOR_INSTRUCTORS.includes(page));
}
