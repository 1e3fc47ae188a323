import type { ScenarioRunRow } from "../../api/schema";

type HowFar = Pick<ScenarioRunRow, "state" | "on" | "at_s" | "held">;

/** How far a run is, in words. */
export function howFar({ state, on, at_s, held }: HowFar): string {
  if (state === "cancelled") return "Cancelled";
  if (state === "failed") return "Not run to its end";
  if (state === "done") return held === true ? "Over: held" : "Over: not held";
  if (at_s === 0) return "The cluster starts";
  return `Running, ${at_s.toFixed(0)} s${on === "simulated" ? " of virtual time" : ""}`;
}
