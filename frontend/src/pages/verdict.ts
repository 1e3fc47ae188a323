/** Texts of the invariants: pure. */

import { t } from "@lingui/core/macro";
import type { InvariantStatus } from "../api/schema";
import { count } from "../store/time";

/** For an invariant that holds or is unchecked: the extent of the check, and why it ended there. */
export function verdict({ state, checked, counts, explanation }: InvariantStatus): string {
  if (state === "green") return t`Held so far: ${count(checked)} ${counts}.`;
  const why = explanation === "" ? t`Nothing has been checked yet.` : `${capital(explanation)}.`;
  return checked === 0 ? why : t`${why} Until then it held: ${count(checked)} ${counts}.`;
}

/** A phrase as the start of a sentence. */
export function capital(line: string): string {
  return line.charAt(0).toUpperCase() + line.slice(1);
}
