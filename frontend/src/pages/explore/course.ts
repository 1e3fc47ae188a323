/** The course of a search as two curves: pure geometry. */

import { t } from "@lingui/core/macro";
import { line, scaleLinear } from "d3";
import type { CurvePoint } from "../../api/schema";

export const MARGIN = { top: 12, right: 14, bottom: 22, left: 46 };
const SMOOTH_S = 2;

export interface Spot {
  at_s: number;
  value: number;
}

export interface CoursePlot {
  path: string;
  xTicks: { at: number; text: string }[];
  yTicks: { at: number; text: string }[];
}

export function coverageOf(course: readonly CurvePoint[]): Spot[] {
  return course.map(({ at_s, coverage }) => ({ at_s, value: coverage }));
}

/** Seeds per second between points that are at least two seconds apart. */
export function rateOf(course: readonly CurvePoint[]): Spot[] {
  const spots: Spot[] = [];
  let before = course[0];
  for (const point of course) {
    if (before === undefined || point.at_s - before.at_s < SMOOTH_S) continue;
    spots.push({ at_s: point.at_s, value: (point.seeds - before.seeds) / (point.at_s - before.at_s) });
    before = point;
  }
  return spots;
}

/** "0 s", "40 s"; minutes from three minutes on. */
function timeText(at_s: number, whole_s: number): string {
  return whole_s < 180 ? `${at_s} s` : t`${Number((at_s / 60).toFixed(1))} min`;
}

export function plot(spots: readonly Spot[], width: number, height: number): CoursePlot {
  const seconds = Math.max(1, spots.at(-1)?.at_s ?? 1);
  const most = Math.max(...spots.map(({ value }) => value), 1);
  const x = scaleLinear([0, seconds], [MARGIN.left, width - MARGIN.right]);
  const y = scaleLinear([0, most], [height - MARGIN.bottom, MARGIN.top]).nice(3);
  const path =
    line<Spot>()
      .x(({ at_s }) => x(at_s))
      .y(({ value }) => y(value))([...spots]) ?? "";
  return {
    path,
    xTicks: x.ticks(4).map((at) => ({ at: x(at), text: timeText(at, seconds) })),
    yTicks: y.ticks(3).map((at) => ({ at: y(at), text: String(at) })),
  };
}
