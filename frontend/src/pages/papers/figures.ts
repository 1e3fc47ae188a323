/** Figures of experiments as text and as lengths of bars. Pure. */

import type { BothFigures } from "../../api/schema";

const LARGE = 1e6;
const SMALL = 1e-3;

/** A figure with four digits; a dash where it is not known. */
export function amount(value: number | null): string {
  if (value === null) return "–";
  const size = Math.abs(value);
  if (size >= LARGE || (size > 0 && size < SMALL)) return value.toExponential(2);
  return value.toLocaleString("en", { maximumSignificantDigits: 4 });
}

/** The lengths of both bars as shares of the longer one; a negative figure has none. */
export function sharesOf({ theirs, ours }: Pick<BothFigures, "theirs" | "ours">): {
  theirs: number;
  ours: number;
} {
  const [a, b] = [Math.max(0, theirs ?? 0), Math.max(0, ours ?? 0)];
  const most = Math.max(a, b);
  return most === 0 ? { theirs: 0, ours: 0 } : { theirs: a / most, ours: b / most };
}
