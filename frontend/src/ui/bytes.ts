import { t } from "@lingui/core/macro";

const UNITS = ["bytes", "kB", "MB", "GB", "TB"];

/** "812 bytes", "71.9 kB", "1.44 MB": three digits and a unit. */
export function formatBytes(size: number): string {
  let [value, unit] = [size, 0];
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  if (unit === 0) return size === 1 ? t`1 byte` : t`${size} bytes`;
  return `${value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2)} ${UNITS[unit]}`;
}
