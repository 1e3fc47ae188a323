const UNITS = ["octets", "kB", "MB", "GB", "TB"];

/** "812 octets", "71.9 kB", "1.44 MB": three figures and a unit. */
export function octetWords(octets: number): string {
  let [value, unit] = [octets, 0];
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  if (unit === 0) return octets === 1 ? "1 octet" : `${octets} octets`;
  return `${value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2)} ${UNITS[unit]}`;
}
