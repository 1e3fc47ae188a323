/** Curves over the time of a run: pure geometry. */

import { extent, line, scaleLinear, scaleLog } from "d3";
import type { Measured } from "../../api/schema";

const NS_PER_S = 1e9;

export interface Curve {
  /** One value per bucket; null for a bucket without returned calls. */
  values: readonly (number | null)[];
  bucket_ns: number;
}

/** Latencies span four powers of ten and use a logarithmic axis; calls per second do not. */
export type Scale = "linear" | "log";

export interface Plot {
  paths: string[];
  xTicks: { at: number; text: string }[];
  yTicks: { at: number; text: string }[];
}

export const MARGIN = { top: 18, right: 18, bottom: 22, left: 52 };

export function callsPerSecond({ curve }: Measured): Curve {
  return { values: curve.ok.map((ok) => (ok * NS_PER_S) / curve.bucket_ns), bucket_ns: curve.bucket_ns };
}

export function slowest({ curve }: Measured): Curve {
  return { values: curve.p99_ms, bucket_ns: curve.bucket_ns };
}

/** Distance of a moment from the left edge. */
export function place(at_s: number, seconds: number, width: number): number {
  return scaleLinear([0, seconds], [MARGIN.left, width - MARGIN.right])(at_s);
}

export interface Mark {
  at: number;
  what: string;
  /** Label of a tick; empty when the previous one is too near. */
  verb: string;
}

const ROOM_PER_LETTER = 7;

/** Positions of the faults. Labels have only the verb, because the targets differ between configurations. */
export function marks(
  faults: readonly (readonly [at_ns: number, verb: string, targets: readonly string[]])[],
  seconds: number,
  width: number,
): Mark[] {
  let free = 0;
  return faults.map(([at_ns, name, targets]) => {
    const at = place(at_ns / NS_PER_S, seconds, width);
    const verb = name.replaceAll("_", " ");
    const what = [name, ...targets].join(" ");
    const end = at + 12 + verb.length * ROOM_PER_LETTER;
    if (at < free || end > width) return { at, what, verb: "" };
    free = end;
    return { at, what, verb };
  });
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
