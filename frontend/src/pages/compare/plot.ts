/** Curves over the time of a run: pure geometry. */

import { extent, line, scaleLinear, scaleLog } from "d3";
import type { Measured } from "../../api/compare";

const NS_PER_S = 1e9;

export interface Curve {
  /** One value per bucket; null where nothing returned. */
  values: readonly (number | null)[];
  bucket_ns: number;
}

/** Latencies span four powers of ten, calls per second do not. */
export type Scale = "linear" | "log";

export interface Plot {
  paths: string[];
  xTicks: { at: number; text: string }[];
  yTicks: { at: number; text: string }[];
}

export const MARGIN = { top: 14, right: 10, bottom: 22, left: 52 };

export function callsPerSecond({ curve }: Measured): Curve {
  return { values: curve.ok.map((ok) => (ok * NS_PER_S) / curve.bucket_ns), bucket_ns: curve.bucket_ns };
}

export function slowest({ curve }: Measured): Curve {
  return { values: curve.p99_ms, bucket_ns: curve.bucket_ns };
}

/** Where a moment stands from the left. */
export function place(at_s: number, seconds: number, width: number): number {
  return scaleLinear([0, seconds], [MARGIN.left, width - MARGIN.right])(at_s);
}

/** All curves in one picture, on the same axes. */
export function plot(
  curves: readonly Curve[],
  seconds: number,
  width: number,
  height: number,
  scale: Scale = "linear",
): Plot {
  const values = curves.flatMap((curve) => curve.values.filter((value) => value !== null));
  const [least = 0.1, most = 1] = extent(values);
  const range = [height - MARGIN.bottom, MARGIN.top];
  const y =
    scale === "log"
      ? scaleLog([Math.max(least, 0.001), Math.max(most, least * 10, 0.01)], range).nice()
      : scaleLinear([0, most || 1], range).nice(4);
  const x = scaleLinear([0, seconds], [MARGIN.left, width - MARGIN.right]);
  const paths = curves.map(
    ({ values, bucket_ns }) =>
      line<number | null>()
        .defined((value) => value !== null)
        .x((_, index) => x(Math.min(seconds, ((index + 0.5) * bucket_ns) / NS_PER_S)))
        .y((value) => y(value ?? 0))(values as (number | null)[]) ?? "",
  );
  return {
    paths,
    xTicks: x.ticks(6).map((at) => ({ at: x(at), text: `${at} s` })),
    yTicks: y
      .ticks(4)
      .filter((at) => scale === "linear" || Number.isInteger(Math.log10(at)))
      .map((at) => ({ at: y(at), text: String(at) })),
  };
}
