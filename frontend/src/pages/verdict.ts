/** What lamps say: pure. */

import type { Lamp } from "../api/types";
import { count } from "../store/time";

/** Of a lamp that is not red: how far it was checked, and why not further. */
export function verdict({ state, checked, explanation }: Lamp): string {
  if (state === "green") return `Held so far: ${count(checked)} checks.`;
  const why = explanation === "" ? "Nothing has been checked yet." : `${capital(explanation)}.`;
  return checked === 0 ? why : `${why} Until then it held: ${count(checked)} checks.`;
}

/** A phrase as the beginning of a sentence. */
export function capital(line: string): string {
  return line.charAt(0).toUpperCase() + line.slice(1);
}
