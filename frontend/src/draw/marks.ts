/** Small marks that several instruments draw. */

import type { Letter } from "../api/schema";
import { toneOf } from "../families/roles";
import type { Palette } from "./useCanvas";

export function font(rem: number, size = 0.75, weight = 500): string {
  return `${weight} ${rem * size}px system-ui, "Segoe UI", "Noto Sans", sans-serif`;
}

/** The start of a text that fits into a width, or an empty text. */
export function fitted(text: string, room: number, widthOf: (text: string) => number): string {
  if (widthOf(text) <= room) return text;
  for (let kept = text.length - 1; kept > 2; kept -= 1) {
    const shorter = `${text.slice(0, kept)}…`;
    if (widthOf(shorter) <= room) return shorter;
  }
  return "";
}

/** Diagonal lines inside a box: visible without colour. */
export function hatch(
  context: CanvasRenderingContext2D,
  box: { x: number; y: number; width: number; height: number },
  step: number,
): void {
  context.save();
  context.beginPath();
  context.rect(box.x, box.y, box.width, box.height);
  context.clip();
  context.beginPath();
  for (let x = box.x - box.height; x < box.x + box.width; x += step) {
    context.moveTo(x, box.y + box.height);
    context.lineTo(x + box.height, box.y);
  }
  context.stroke();
  context.restore();
}

/** A span of one server's role: filled in the view, empty with a line outside it. */
export function band(
  context: CanvasRenderingContext2D,
  box: { x: number; y: number; width: number; height: number },
  letter: Letter,
  rem: number,
  palette: Palette,
): void {
  const tone = toneOf(letter);
  if (letter === "-") {
    context.strokeStyle = palette("line-strong");
    context.lineWidth = 1;
    context.setLineDash([2, 3]);
    context.beginPath();
    context.moveTo(box.x, box.y + box.height / 2);
    context.lineTo(box.x + box.width, box.y + box.height / 2);
    context.stroke();
    context.setLineDash([]);
    return;
  }
  context.fillStyle = palette(tone === "active" ? tone : `${tone}-wash`);
  context.fillRect(box.x, box.y, box.width, box.height);
  context.strokeStyle = palette(tone);
  context.lineWidth = 1;
  if (tone === "junior") hatch(context, box, rem * 0.4);
  context.strokeRect(box.x + 0.5, box.y + 0.5, Math.max(0, box.width - 1), box.height - 1);
  if (box.width > rem * 1.1) {
    context.fillStyle = palette(tone === "active" ? `on-${tone}` : tone);
    context.font = font(rem, 0.72, 700);
    context.textBaseline = "middle";
    context.fillText(letter, box.x + rem * 0.3, box.y + box.height / 2 + 0.5);
  }
}
