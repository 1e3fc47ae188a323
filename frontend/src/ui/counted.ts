/** A number and its unit, as in "1 lab" and "2 labs". */
export function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
