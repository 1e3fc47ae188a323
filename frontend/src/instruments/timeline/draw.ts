import { t } from "@lingui/core/macro";
import { area, line } from "d3";
import { band, fitted, font } from "../../draw/marks";
import type { Palette, Size } from "../../draw/useCanvas";
import { count, sinceStart } from "../../store/time";
import type { Geometry } from "./layout";

/** Draws the timeline; `cursor_ns` is the shown moment, null for the present. */
export function draw(
  context: CanvasRenderingContext2D,
  { width, rem }: Size,
  geometry: Geometry,
  start_ns: number,
  cursor_ns: number | null,
  palette: Palette,
): void {
  context.lineJoin = "round";
  drawShade(context, geometry, rem, palette);
  drawAxis(context, geometry, start_ns, rem, palette);
  drawRate(context, geometry, rem, palette);
  drawLatency(context, geometry, rem, palette);
  for (const { name, y, height } of geometry.groups)
    drawGroup(context, geometry, name, y, height, rem, palette);
  for (const { server, y, height, spans } of geometry.bands) {
    label(context, server, y + height / 2, rem, palette);
    for (const span of spans) band(context, span, span.letter, rem, palette);
  }
  drawViews(context, geometry, rem, palette);
  drawBarriers(context, geometry, rem, palette);
  drawFaults(context, geometry, rem, palette);
  if (cursor_ns !== null) drawCursor(context, geometry, cursor_ns, rem, palette, width);
}

function label(
  context: CanvasRenderingContext2D,
  text: string,
  y: number,
  rem: number,
  palette: Palette,
): void {
  context.font = font(rem, 0.75);
  context.fillStyle = palette("ink-soft");
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(text, 0, y);
}

/** A group's name with a line to the right of it, over the bands of its servers. */
function drawGroup(
  context: CanvasRenderingContext2D,
  { plot }: Geometry,
  name: string,
  y: number,
  height: number,
  rem: number,
  palette: Palette,
): void {
  const middle = y + height / 2;
  context.font = font(rem, 0.78, 700);
  context.fillStyle = palette("ink");
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(name, 0, middle);
  context.strokeStyle = palette("line-strong");
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(context.measureText(name).width + 0.4 * rem, Math.round(middle) + 0.5);
  context.lineTo(plot.x + plot.width, Math.round(middle) + 0.5);
  context.stroke();
}

function drawAxis(
  context: CanvasRenderingContext2D,
  { plot, axis }: Geometry,
  start_ns: number,
  rem: number,
  palette: Palette,
): void {
  context.strokeStyle = palette("line");
  context.lineWidth = 1;
  context.font = font(rem, 0.7);
  context.fillStyle = palette("ink-soft");
  context.textBaseline = "top";
  for (const { x, at_ns } of axis) {
    context.beginPath();
    context.moveTo(Math.round(x) + 0.5, 0);
    context.lineTo(Math.round(x) + 0.5, plot.height);
    context.stroke();
    const text = sinceStart(at_ns, start_ns, 0);
    context.textAlign = x + 2 * rem > plot.x + plot.width ? "right" : "center";
    context.fillText(text, x, plot.height + 0.25 * rem);
  }
  context.textAlign = "left";
}

function drawRate(
  context: CanvasRenderingContext2D,
  { rate }: Geometry,
  rem: number,
  palette: Palette,
): void {
  const { box, ok, failed, top } = rate;
  const base = box.y + box.height;
  const shape = area<[number, number]>()
    .x((p) => p[0])
    .y0(base)
    .y1((p) => p[1])
    .context(context);
  context.beginPath();
  shape(ok);
  context.fillStyle = palette("accent-wash");
  context.fill();
  context.beginPath();
  line<[number, number]>().context(context)(ok);
  context.strokeStyle = palette("accent");
  context.lineWidth = 1.5;
  context.stroke();
  context.fillStyle = palette("broken");
  for (const bar of failed) context.fillRect(bar.x, bar.y, bar.width, bar.height);
  label(context, t`calls/s`, box.y + box.height / 2, rem, palette);
  label(context, count(top), box.y + 0.35 * rem, rem, palette);
}

function drawLatency(
  context: CanvasRenderingContext2D,
  { latency }: Geometry,
  rem: number,
  palette: Palette,
): void {
  const { box, p50, p99, lines } = latency;
  label(context, t`latency`, box.y - 0.75 * rem, rem, palette);
  context.font = font(rem, 0.65);
  context.fillStyle = palette("ink-soft");
  context.strokeStyle = palette("line");
  context.lineWidth = 1;
  context.textAlign = "right";
  for (const { y, text } of lines) {
    context.beginPath();
    context.moveTo(box.x, Math.round(y) + 0.5);
    context.lineTo(box.x + box.width, Math.round(y) + 0.5);
    context.stroke();
    context.fillText(text, box.x - 0.3 * rem, y);
  }
  context.textAlign = "left";
  for (const [runs, colour, dash] of [
    [p99, "warn", [3, 3]],
    [p50, "ink", []],
  ] as const) {
    context.strokeStyle = palette(colour);
    context.lineWidth = 1.5;
    context.setLineDash([...dash]);
    for (const run of runs) {
      context.beginPath();
      if (run.length === 1 && run[0]) context.arc(run[0][0], run[0][1], 1.5, 0, 7);
      else line<[number, number]>().context(context)(run);
      context.stroke();
    }
  }
  context.setLineDash([]);
}

/** Shades the time of a fault behind everything else; overlapping faults share one shade. */
function drawShade(
  context: CanvasRenderingContext2D,
  { plot, faults }: Geometry,
  rem: number,
  palette: Palette,
): void {
  let shaded = 0;
  context.fillStyle = palette("broken-wash");
  context.globalAlpha = 0.6;
  for (const { x, until } of faults) {
    const from = Math.max(x, shaded);
    const end = Math.min(until ?? plot.x + plot.width, plot.x + plot.width);
    if (end > from) {
      context.fillRect(from, 3.6 * rem, Math.max(2, end - from), plot.height - 3.6 * rem);
      shaded = end;
    }
  }
  context.globalAlpha = 1;
}

/** Draws a checkpoint: a double line with a small flag, which ends where the next one begins. */
function drawBarriers(
  context: CanvasRenderingContext2D,
  { plot, rate, barriers }: Geometry,
  rem: number,
  palette: Palette,
): void {
  context.lineWidth = 1;
  context.font = font(rem, 0.7, 600);
  context.textBaseline = "middle";
  const widthOf = (text: string): number => context.measureText(text).width;
  const [gap, end] = [0.25 * rem, plot.x + plot.width];
  let taken = plot.x;
  for (const [index, { x, text }] of barriers.entries()) {
    context.strokeStyle = palette("active");
    for (const side of [-1, 2]) {
      context.beginPath();
      context.moveTo(Math.round(x) + side + 0.5, rate.box.y);
      context.lineTo(Math.round(x) + side + 0.5, plot.height);
      context.stroke();
    }
    const y = rate.box.y + 0.55 * rem;
    const next = barriers[index + 1]?.x;
    const full = widthOf(`⚑ ${text}`) + 2 * gap;
    const left = next === undefined ? Math.max(taken, Math.min(x + gap, end - full)) : x + gap;
    const words = fitted(`⚑ ${text}`, (next ?? end) - left - 3 * gap, widthOf);
    if (words === "") continue;
    const wide = widthOf(words) + 2 * gap;
    context.fillStyle = palette("active-wash");
    context.fillRect(left, y - 0.55 * rem, wide, 1.1 * rem);
    context.fillStyle = palette("active");
    context.fillText(words, left + gap, y + 0.5);
    taken = left + wide + gap;
  }
}

/** Draws a new view: a dotted line through the bands, with its number over them. */
function drawViews(
  context: CanvasRenderingContext2D,
  { plot, latency, views }: Geometry,
  rem: number,
  palette: Palette,
): void {
  const y = latency.box.y + latency.box.height - 0.1 * rem;
  context.strokeStyle = palette("active");
  context.lineWidth = 2;
  context.font = font(rem, 0.7, 600);
  context.textBaseline = "middle";
  for (const { x, text } of views) {
    context.setLineDash([2, 2]);
    context.beginPath();
    context.moveTo(Math.round(x), y);
    context.lineTo(Math.round(x), plot.height);
    context.stroke();
    context.setLineDash([]);
    if (text === null) continue;
    const wide = context.measureText(text).width + 0.5 * rem;
    const left = Math.min(x, plot.x + plot.width - wide);
    context.fillStyle = palette("active-wash");
    context.fillRect(left, y - 0.55 * rem, wide, 1.1 * rem);
    context.fillStyle = palette("active");
    context.fillText(text, left + 0.25 * rem, y + 0.5);
  }
}

function drawFaults(
  context: CanvasRenderingContext2D,
  geometry: Geometry,
  rem: number,
  palette: Palette,
): void {
  const { plot, faults } = geometry;
  context.textBaseline = "middle";
  for (const { x, text, row } of faults) {
    const y = (0.6 + 1.2 * row) * rem;
    context.strokeStyle = palette("broken");
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(Math.round(x) + 0.5, y);
    context.lineTo(Math.round(x) + 0.5, plot.height);
    context.stroke();
    context.font = font(rem, 0.72, 600);
    const wide = context.measureText(text).width + 0.6 * rem;
    const left = Math.min(x, plot.x + plot.width - wide);
    context.fillStyle = palette("broken-wash");
    context.fillRect(left, y - 0.55 * rem, wide, 1.1 * rem);
    context.strokeRect(left + 0.5, y - 0.55 * rem, wide - 1, 1.1 * rem);
    context.fillStyle = palette("broken");
    context.fillText(text, left + 0.3 * rem, y + 0.5);
  }
}

function drawCursor(
  context: CanvasRenderingContext2D,
  { plot, x }: Geometry,
  cursor_ns: number,
  rem: number,
  palette: Palette,
  width: number,
): void {
  const at = x(cursor_ns);
  if (at < plot.x || at > width) return;
  context.strokeStyle = palette("ink");
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(at, 0);
  context.lineTo(at, plot.height);
  context.stroke();
  context.fillStyle = palette("ink");
  context.beginPath();
  context.moveTo(at - 0.4 * rem, 0);
  context.lineTo(at + 0.4 * rem, 0);
  context.lineTo(at, 0.5 * rem);
  context.fill();
}
