/** Acts as whole phrases. */

import { t } from "@lingui/core/macro";

interface Known {
  servers: Record<string, { group: string; sn: number }>;
  groups: Record<string, { commit_sn: number }>;
}

/** The cost of forcing a server, as far as the picture shows it. */
export function forceWords(name: string, { servers, groups }: Known): string {
  const { group = "", sn = 0 } = servers[name] ?? {};
  const others = Object.keys(servers).filter((other) => other !== name && servers[other]?.group === group);
  const known = Math.max(groups[group]?.commit_sn ?? 0, ...others.map((other) => servers[other]?.sn ?? 0));
  const begins = t`${name} serves with its own journal, up to sn ${sn}, and the others of ${group} follow it.`;
  if (known > sn) return t`${begins} sn ${sn + 1} to ${known} of ${group} may be lost.`;
  if (others.length === 0) return begins;
  return t`${begins} Later groups that only ${others.join(t` or `)} may hold are lost.`;
}
