/** Positions on the timeline; pure. */

import { t } from "@lingui/core/macro";
import { max, scaleLinear, scaleLog, ticks } from "d3";
import type { Letter, Timeline } from "../../api/schema";
import { NS_PER_S } from "../../store/time";

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Geometry {
  plot: Box;
  rate: { box: Box; top: number; ok: [number, number][]; failed: Box[] };
  latency: {
    box: Box;
    p50: [number, number][][];
    p99: [number, number][][];
    lines: { y: number; text: string }[];
  };
  /** Names of the groups over their bands; empty with a single group. */
  groups: { name: string; y: number; height: number }[];
  bands: { server: string; y: number; height: number; spans: (Box & { letter: Letter })[] }[];
  faults: { x: number; until: number | null; text: string; row: number }[];
  /** Checkpoints, as lines through everything. */
  barriers: { x: number; text: string }[];
  /** Views installed in the span; a view has no label when there is no room before the next one. */
  views: { x: number; text: string | null }[];
  axis: { x: number; at_ns: number }[];
  at: (x: number) => number;
  x: (at_ns: number) => number;
}

const LEFT = 4.2;
const FAULT_ROWS = 3;
const BAND_ROW = 1.35;
const GROUP_ROW = 1.3;

type Banded = readonly { group: string }[];

/** Number of group names over the bands. */
function signsOf(bands: Banded): number {
  const groups = new Set(bands.map(({ group }) => group)).size;
  return groups > 1 ? groups : 0;
}

/** Height of the canvas in rem. */
export function heightOf(bands: Banded): number {
  const rows = BAND_ROW * bands.length + GROUP_ROW * signsOf(bands);
  return 1.2 * FAULT_ROWS + 5 + 1.2 + 3.6 + 0.6 + rows + 1.6;
}

/** Round steps of the time axis, about `wanted` of them. */
export function axisTimes(from_ns: number, to_ns: number, start_ns: number, wanted: number): number[] {
  const [from_s, to_s] = [(from_ns - start_ns) / NS_PER_S, (to_ns - start_ns) / NS_PER_S];
  return ticks(from_s, to_s, wanted).map((second) => start_ns + second * NS_PER_S);
}

/** Runs of neighbouring buckets with a value, as points. */
export function runsOf(
  values: (number | null)[],
  point: (value: number, index: number) => [number, number],
): [number, number][][] {
  const runs: [number, number][][] = [];
  let run: [number, number][] = [];
  values.forEach((value, index) => {
    if (value !== null) run.push(point(value, index));
    else if (run.length > 0) {
      runs.push(run);
      run = [];
    }
  });
  return run.length > 0 ? [...runs, run] : runs;
}

/** The buckets without an unfinished last one, which would look like a dip. */
function wholeBuckets(data: Timeline): Timeline {
  const whole = Math.max(1, Math.floor((data.to_ns - data.from_ns) / data.bucket_ns));
  const cut = <Value>(values: Value[]): Value[] => values.slice(0, whole);
  return {
    ...data,
    ok: cut(data.ok),
    failed: cut(data.failed),
    p50_ms: cut(data.p50_ms),
    p99_ms: cut(data.p99_ms),
  };
}

export function layout(asked: Timeline, start_ns: number, width: number, rem: number): Geometry {
  const data = wholeBuckets(asked);
  const left = LEFT * rem;
  const plot = { x: left, y: 0, width: Math.max(1, width - left - 0.4 * rem), height: 0 };
  const time = scaleLinear([data.from_ns, data.to_ns], [plot.x, plot.x + plot.width]);
  const middle = (index: number): number => time(data.from_ns + (index + 0.5) * data.bucket_ns);
  const perSecond = NS_PER_S / data.bucket_ns;

  let y = 1.2 * FAULT_ROWS * rem;
  const rateBox = { ...plot, y, height: 5 * rem };
  y += rateBox.height + 1.2 * rem;
  const latencyBox = { ...plot, y, height: 3.6 * rem };
  y += latencyBox.height + 0.6 * rem;

  const top = Math.max(
    1,
    max(data.ok, (value, index) => (value + (data.failed[index] ?? 0)) * perSecond) ?? 1,
  );
  const rate = scaleLinear([0, top], [rateBox.y + rateBox.height, rateBox.y]).nice(3);
  const bucketWidth = Math.max(1, plot.width / Math.max(1, data.ok.length));
  const failed = data.failed.flatMap((value, index) =>
    value > 0
      ? [
          {
            x: middle(index) - bucketWidth / 2,
            y: rate(value * perSecond),
            width: bucketWidth,
            height: rateBox.y + rateBox.height - rate(value * perSecond),
          },
        ]
      : [],
  );

  const slowest = Math.max(10, max(data.p99_ms, (value) => value ?? 0) ?? 10);
  const latency = scaleLog([0.1, slowest], [latencyBox.y + latencyBox.height, latencyBox.y]).clamp(true);
  const point = (value: number, index: number): [number, number] => [middle(index), latency(value)];
  const lines = [1, 10, 100, 1000, 10_000]
    .filter((value) => value < slowest)
    .map((value) => ({ y: latency(value), text: value < 1000 ? `${value} ms` : `${value / 1000} s` }));

  const several = signsOf(data.bands) > 0;
  const groups: Geometry["groups"] = [];
  const bands = data.bands.map(({ server, group, spans }) => {
    if (several && groups.at(-1)?.name !== group) {
      groups.push({ name: group, y, height: GROUP_ROW * rem });
      y += GROUP_ROW * rem;
    }
    const [height, bandY] = [1.1 * rem, y];
    y += BAND_ROW * rem;
    const boxes = spans
      .filter((span) => span.to_ns > data.from_ns && span.from_ns < data.to_ns)
      .map((span) => {
        const x = Math.max(plot.x, time(span.from_ns));
        const end = Math.min(plot.x + plot.width, time(span.to_ns));
        return { x, y: bandY, width: Math.max(1, end - x), height, letter: span.letter };
      });
    return { server, y: bandY, height, spans: boxes };
  });

  return {
    plot: { ...plot, height: y },
    rate: {
      box: rateBox,
      top: rate.domain()[1] ?? top,
      ok: data.ok.map((v, i) => [middle(i), rate(v * perSecond)]),
      failed,
    },
    latency: { box: latencyBox, p50: runsOf(data.p50_ms, point), p99: runsOf(data.p99_ms, point), lines },
    groups,
    bands,
    faults: flags(data, time, rem),
    barriers: data.barriers
      .filter(({ at_ns }) => at_ns >= data.from_ns && at_ns <= data.to_ns)
      .map(({ name, at_ns }) => ({ x: time(at_ns), text: name })),
    views: viewMarks(data, time, rem),
    axis: axisTimes(data.from_ns, data.to_ns, start_ns, Math.max(2, Math.floor(plot.width / (6 * rem)))).map(
      (at_ns) => ({ x: time(at_ns), at_ns }),
    ),
    at: (x) => time.invert(Math.min(Math.max(x, plot.x), plot.x + plot.width)),
    x: (at_ns) => time(at_ns),
  };
}

function viewMarks(data: Timeline, time: (at_ns: number) => number, rem: number): Geometry["views"] {
  const inside = data.views.filter(({ at_ns }) => at_ns >= data.from_ns && at_ns <= data.to_ns);
  return inside.map(({ number, at_ns }, index) => {
    const [x, text] = [time(at_ns), t`view ${number}`];
    const next = inside[index + 1];
    const room = next === undefined ? Number.POSITIVE_INFINITY : time(next.at_ns) - x;
    return { x, text: room > (text.length * 0.42 + 0.7) * rem ? text : null };
  });
}

/** Faults as flags; overlapping flags move to the next row. */
function flags(data: Timeline, time: (at_ns: number) => number, rem: number): Geometry["faults"] {
  const ends = new Array<number>(FAULT_ROWS).fill(Number.NEGATIVE_INFINITY);
  return data.faults
    .filter(({ at_ns, ended_ns }) => (ended_ns ?? data.to_ns) >= data.from_ns && at_ns <= data.to_ns)
    .map((fault) => {
      const x = time(Math.max(fault.at_ns, data.from_ns));
      const text = `${fault.verb.replaceAll("_", " ")} ${fault.targets.join(" ")}`;
      const free = ends.findIndex((end) => end <= x);
      const row = free < 0 ? FAULT_ROWS - 1 : free;
      ends[row] = x + (text.length * 0.42 + 1) * rem;
      return { x, until: fault.ended_ns === null ? null : time(fault.ended_ns), text, row };
    });
}
