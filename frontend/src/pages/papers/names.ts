/** Names on the page of papers. */

import { inCluster, MAIN } from "../../api/fleet";
import type { PaperCluster } from "../../api/schema";

/** What the name of an experiment begins with in a URL. */
export const EXPERIMENTS = "experiments/";

export function isPaperCluster(cluster: string): boolean {
  return cluster !== MAIN && cluster.startsWith("paper-");
}

export function shownAddress({ paper, mechanism, name }: PaperCluster): string {
  return inCluster(`/papers/${paper}/${mechanism}`, name);
}
