/** Changes of the load by a button. */

import type { ShownStep, WorkloadChange } from "../../api/schema";

/** The request for a change: what the button leaves alone is left out. */
export function changeOf({ rate_per_s, paused }: NonNullable<ShownStep["load"]>): WorkloadChange {
  return { ...(rate_per_s !== null && { rate_per_s }), ...(paused !== null && { paused }) };
}
