import type { CellState } from "../../api/schema";
import { font, hatch } from "../../draw/marks";
import type { Palette, Size } from "../../draw/useCanvas";
import type { Geometry } from "./layout";

type Box = { x: number; y: number; width: number; height: number };

/** Each state has its own height and fill, so that it is visible without colour. */
export function drawCell(
  context: CanvasRenderingContext2D,
  box: Box,
  state: CellState,
  rem: number,
  palette: Palette,
): void {
  const base = box.y + box.height;
  const part = (share: number): Box => ({ ...box, y: base - box.height * share, height: box.height * share });
  context.lineWidth = 1;
  if (state === "a") {
    context.fillStyle = palette("accent");
    context.fillRect(box.x, box.y, box.width, box.height);
  } else if (state === "c") {
    const low = part(0.66);
    context.fillStyle = palette("accent");
    context.fillRect(low.x, low.y, low.width, low.height);
  } else if (state === "p") {
    const low = part(0.4);
    context.fillStyle = palette("accent-wash");
    context.fillRect(low.x, low.y, low.width, low.height);
    context.strokeStyle = palette("accent");
    context.strokeRect(low.x + 0.5, low.y + 0.5, Math.max(0, low.width - 1), low.height - 1);
  } else if (state === "e") {
    context.fillStyle = palette("broken-wash");
    context.fillRect(box.x, box.y, box.width, box.height);
    context.strokeStyle = palette("broken");
    hatch(context, box, rem * 0.35);
    context.strokeRect(box.x + 0.5, box.y + 0.5, Math.max(0, box.width - 1), box.height - 1);
  } else {
    context.strokeStyle = palette("line-strong");
    context.setLineDash([2, 3]);
    context.beginPath();
    context.moveTo(box.x, base - 1);
    context.lineTo(box.x + box.width, base - 1);
    context.stroke();
    context.setLineDash([]);
  }
}

export function draw(
  context: CanvasRenderingContext2D,
  { width, rem }: Size,
  geometry: Geometry,
  pointed: { server: string; sn: number } | null,
  term: string,
  palette: Palette,
): void {
  const { cell, rows, height, left } = geometry;
  context.font = font(rem, 0.7);
  context.textBaseline = "middle";
  for (const { x, width: wide, epoch } of geometry.epochs) {
    context.fillStyle = palette("sunk");
    context.fillRect(x, 0, wide - 1, 1.1 * rem);
    context.fillStyle = palette("ink-soft");
    const text = wide > 4 * rem ? `${term} ${epoch}` : `${epoch}`;
    if (wide > rem) context.fillText(text, x + 0.3 * rem, 0.55 * rem);
  }
  for (const { server, y, height: tall, runs } of rows) {
    context.font = font(rem, 0.75);
    context.fillStyle = palette("ink-soft");
    context.fillText(server, 0, y + tall / 2);
    for (const run of runs)
      drawCell(context, { x: run.x, y, width: run.width, height: tall }, run.state, rem, palette);
  }
  if (cell >= 3) separators(context, geometry, palette);
  context.fillStyle = palette("ink-soft");
  context.font = font(rem, 0.7);
  context.textBaseline = "top";
  for (const { x, sn } of geometry.ticks) {
    context.textAlign = x + 2 * rem > width ? "right" : "center";
    context.fillText(String(sn), Math.min(x, width), height + 0.1 * rem);
  }
  context.textAlign = "left";
  if (geometry.commit_x !== null) {
    context.strokeStyle = palette("active");
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(geometry.commit_x, 1.2 * rem);
    context.lineTo(geometry.commit_x, height);
    context.stroke();
  }
  drawBarriers(context, geometry, width, rem, palette);
  const box = pointed === null ? null : geometry.box(pointed.server, pointed.sn);
  if (box !== null) {
    context.strokeStyle = palette("ink");
    context.lineWidth = 2;
    context.strokeRect(Math.max(left, box.x) - 1, box.y - 2, box.width + 2, box.height + 4);
  }
}

/** Draws a barrier: a framed column through all rows, with the checkpoint's name over it. */
function drawBarriers(
  context: CanvasRenderingContext2D,
  { barriers, height }: Geometry,
  width: number,
  rem: number,
  palette: Palette,
): void {
  context.font = font(rem, 0.7, 650);
  context.textBaseline = "middle";
  context.lineWidth = 2;
  for (const { x, width: wide, name } of barriers) {
    context.strokeStyle = palette("active");
    context.strokeRect(x, 1.2 * rem, Math.max(3, wide), height - 1.2 * rem);
    const text = `⚑ ${name}`;
    const left = Math.min(x, width - context.measureText(text).width - 0.4 * rem);
    context.fillStyle = palette("active-wash");
    context.fillRect(left, 0, context.measureText(text).width + 0.4 * rem, 1.1 * rem);
    context.fillStyle = palette("active");
    context.fillText(text, left + 0.2 * rem, 0.55 * rem);
  }
}

/** One line between neighbours, for all rows at once. */
function separators(context: CanvasRenderingContext2D, geometry: Geometry, palette: Palette): void {
  const { left, cell, from_sn, to_sn, rows } = geometry;
  context.fillStyle = palette("surface");
  for (const { y, height } of rows)
    for (let sn = from_sn + 1; sn <= to_sn; sn += 1)
      context.fillRect(Math.round(left + (sn - from_sn) * cell), y - 1, 1, height + 1);
}
