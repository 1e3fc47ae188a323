/** The requested comparison, in the form of the URL and of the control plane. */

import { plural, t } from "@lingui/core/macro";
import type { Choices, ClusterChange } from "../../api/schema";

export interface Wish {
  scenario: string;
  seed: number;
  changes: ClusterChange[];
}

export const FEWEST = 2;
export const MOST = 4;

const NUMBERS: readonly string[] = ["groups", "standbys"];
/** Order of the properties in the label of a configuration. */
const REPORTED: readonly string[] = [
  "protocol",
  ...NUMBERS,
  "placement",
  "granularity",
  "cross_group",
  "holes",
];
const KEYS: readonly string[] = [...REPORTED, "variant"];
/** The variant with all holes of the protocol's text. */
export const PAPER = "paper";
/** Value in the URL for no open hole. */
const NONE = "none";

/** "?scenario=faults/crash-the-active&seed=1&with=standbys:1&with=standbys:3" */
export function searchOf({ scenario, seed, changes }: Wish): string {
  const query = new URLSearchParams({ scenario, seed: String(seed) });
  for (const change of changes) {
    const parts = Object.entries(change).map(([key, value]) =>
      Array.isArray(value) ? `${key}:${value.join(".") || NONE}` : `${key}:${value}`,
    );
    query.append("with", parts.join(","));
  }
  return `?${query.toString().replaceAll("%2F", "/").replaceAll("%3A", ":").replaceAll("%2C", ",")}`;
}

function changeOf(text: string): ClusterChange {
  const change: Record<string, string | number | string[]> = {};
  for (const part of text.split(",")) {
    const [key = "", value = ""] = part.split(":");
    if (!KEYS.includes(key) || value === "") continue;
    const counts = NUMBERS.includes(key);
    if (key === "holes") change[key] = value === NONE ? [] : value.split(".");
    else if (!counts) change[key] = value;
    else if (/^\d{1,2}$/.test(value)) change[key] = Number(value);
  }
  return change;
}

/** The request of a URL; null without a scenario. */
export function wishOf(search: string): Wish | null {
  const query = new URLSearchParams(search);
  const scenario = query.get("scenario") ?? "";
  if (scenario === "") return null;
  const seed = query.get("seed") ?? "";
  const changes = query.getAll("with").slice(0, MOST).map(changeOf);
  while (changes.length < FEWEST) changes.push({});
  return { scenario, seed: /^\d{1,9}$/.test(seed) ? Number(seed) : 1, changes };
}

/** The proposed comparison without a request: the running family, beside the one that the others are measured against. */
export function proposal(protocol: string, standbys: number): Wish {
  const other = protocol === "mams" ? (standbys === 1 ? 3 : 1) : Math.max(1, standbys);
  const changes = [
    { protocol, standbys },
    { protocol: "mams", standbys: other },
  ];
  return { scenario: "faults/crash-the-active", seed: 1, changes };
}

/** A configuration with another family, and at most the groups and standbys that it runs. */
export function withFamily(
  value: ClusterChange,
  own: Record<string, unknown>,
  family: Choices["families"][number],
): ClusterChange {
  const next: ClusterChange = { ...value, protocol: family.name };
  if (Number(value.groups ?? own.groups ?? 1) > family.groups_max) next.groups = family.groups_max;
  if (Number(value.standbys ?? own.standbys ?? 0) > family.standbys_max) next.standbys = family.standbys_max;
  const open = (value.holes ?? own.holes ?? []) as string[];
  if (open.some((hole) => !family.holes.includes(hole))) {
    next.holes = open.filter((hole) => family.holes.includes(hole));
  }
  return next;
}

/** The open holes, `paper` for all of the text's: variant and holes of a change replace the scenario's own. */
export function holesOf(value: ClusterChange, own: Record<string, unknown>): string[] {
  const { variant, holes } = value.variant !== undefined || value.holes !== undefined ? value : own;
  return variant === PAPER ? [PAPER] : ((holes ?? []) as string[]);
}

const SAID: Record<string, (value: unknown) => string> = {
  protocol: (value) => String(value),
  groups: (value) => plural(Number(value), { one: "# group", other: "# groups" }),
  standbys: (value) => plural(Number(value), { one: "# standby", other: "# standbys" }),
  placement: (value) => t`placement ${String(value)}`,
  granularity: (value) => t`granularity ${String(value)}`,
  holes: (value) => {
    const open = (value ?? []) as string[];
    if (open.includes(PAPER)) return t`as the paper has it`;
    return open.map((hole) => t`${hole} open`).join(", ") || t`safe`;
  },
  cross_group: (value) => String(value).replaceAll("_", "-"),
};

/** The differences between the configurations in words; `own` is the scenario's cluster. */
export function labels(changes: readonly ClusterChange[], own: Record<string, unknown>): string[] {
  const whole = changes.map(
    (change) => ({ ...own, ...change, holes: holesOf(change, own) }) as Record<string, unknown>,
  );
  const apart = REPORTED.filter((key) => new Set(whole.map((each) => String(each[key]))).size > 1);
  const shown = apart.length > 0 ? apart : ["protocol"];
  return whole.map((each) => shown.map((key) => SAID[key]?.(each[key]) ?? "").join(", "));
}
