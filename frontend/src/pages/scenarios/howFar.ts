import { t } from "@lingui/core/macro";
import type { ScenarioRunRow } from "../../api/schema";

type HowFar = Pick<ScenarioRunRow, "state" | "on" | "at_s" | "held">;

/** How far a run is, in words. */
export function howFar({ state, on, at_s, held }: HowFar): string {
  if (state === "cancelled") return t`Cancelled`;
  if (state === "failed") return t`Not run to its end`;
  if (state === "done") return held === true ? t`Over: held` : t`Over: not held`;
  if (at_s === 0) return t`The cluster starts`;
  const far = at_s.toFixed(0);
  return on === "simulated" ? t`Running, ${far} s of virtual time` : t`Running, ${far} s`;
}
