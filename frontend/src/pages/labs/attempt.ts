/** An attempt at a lab, which has the name of its cluster. */

import { inCluster, MAIN } from "../../api/fleet";
import type { Attempt } from "../../api/schema";

export function isAttempt(cluster: string): boolean {
  return cluster !== MAIN && cluster.startsWith("lab-");
}

export function attemptAddress({ lab, name }: Pick<Attempt, "lab" | "name">): string {
  return inCluster(`/labs/${lab}`, name);
}
