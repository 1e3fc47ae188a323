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

/** The clock of the events' stamps, continued by the browser's clock between frames: the machine's monotonic clock, or virtual time. */
export class ClusterClock {
  private known_ns = 0;
  private at_ms: number | null = null;
  private speed = 1;

  /** `speed`: how fast it runs compared with the browser's; 0 while it is paused. */
  hear(now_ns: number, speed = 1): void {
    this.known_ns = now_ns;
    this.at_ms = performance.now();
    this.speed = speed;
  }

  /** 0 before the first frame. */
  now_ns(): number {
    if (this.at_ms === null) return 0;
    return this.known_ns + (performance.now() - this.at_ms) * NS_PER_MS * this.speed;
  }
}
