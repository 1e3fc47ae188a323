export const NS_PER_MS = 1_000_000;
export const NS_PER_S = 1_000_000_000;

/** "1:02:03.4" since `start_ns`, with `digits` places after the second. */
export function sinceStart(at_ns: number, start_ns: number, digits = 1): string {
  const total_s = Math.max(0, at_ns - start_ns) / NS_PER_S;
  const scale = 10 ** digits;
  const rounded_s = Math.floor(total_s * scale) / scale;
  const hours = Math.floor(rounded_s / 3600);
  const minutes = Math.floor((rounded_s % 3600) / 60);
  const seconds = (rounded_s % 60).toFixed(digits).padStart(digits > 0 ? digits + 3 : 2, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${seconds}` : `${minutes}:${seconds}`;
}

/** "0.42 ms", "7.3 ms", "840 ms", "12.4 s": three digits and a unit. */
export function milliseconds(ms: number): string {
  if (ms >= 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms >= 1_000) return `${(ms / 1000).toFixed(2)} s`;
  if (ms >= 100) return `${ms.toFixed(0)} ms`;
  return `${ms.toFixed(ms >= 10 ? 1 : 2)} ms`;
}

const counts = new Intl.NumberFormat("en", { useGrouping: true });

/** 12345 as "12,345". */
export function count(value: number): string {
  return counts.format(Math.round(value));
}

/** The machine's monotonic clock, continued by the browser's clock between frames. */
export class MachineClock {
  private offset_ns: number | null = null;

  hear(now_ns: number): void {
    this.offset_ns = now_ns - performance.now() * NS_PER_MS;
  }

  /** 0 before the first frame. */
  now_ns(): number {
    return this.offset_ns === null ? 0 : this.offset_ns + performance.now() * NS_PER_MS;
  }
}
