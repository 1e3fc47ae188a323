/** The cluster that this page shows: the main one, or a simulated one beside it, named by the URL. */

export const MAIN = "main";
const NAME = /^[a-z][a-z0-9-]{0,31}$/;
/** Parts of the API that are not of one cluster. */
const OF_ALL = [
  "/attempts",
  "/class",
  "/clusters",
  "/compare",
  "/experiments",
  "/explore",
  "/labs",
  "/paper-clusters",
  "/papers",
];

/** The cluster of a URL's query. */
export function clusterOf(search: string): string {
  const name = new URLSearchParams(search).get("cluster") ?? MAIN;
  return NAME.test(name) ? name : MAIN;
}

/** A change of cluster loads the page anew. */
export const shownCluster = clusterOf(globalThis.location?.search ?? "");

/** The address of a part of the API, of the shown cluster. */
export function apiOf(path: string, cluster = shownCluster): string {
  if (cluster === MAIN || OF_ALL.some((each) => path.startsWith(each))) return `/api${path}`;
  return `/api/clusters/${cluster}${path}`;
}

/** The address of a page, with the shown cluster. */
export function inCluster(address: string, cluster = shownCluster): string {
  if (cluster === MAIN) return address;
  return `${address}${address.includes("?") ? "&" : "?"}cluster=${cluster}`;
}

/** A name for a new cluster, as "sim2". */
export function freeName(taken: readonly string[]): string {
  for (let number = 1; ; number += 1) if (!taken.includes(`sim${number}`)) return `sim${number}`;
}
