/** Messages as dots on their way, on a canvas over the links. */

import { MESSAGES, type Topic } from "../../api/schema";
import { along, type Curve } from "./layout";

export interface Dot {
  curve: Curve;
  /** Whether the dot moves from the curve's end to its start. */
  back: boolean;
  family: Family;
  reply: boolean;
  /** Number of messages behind the dot. */
  count: number;
  /** `performance.now()` at its departure. */
  left_ms: number;
}

export type Family = Topic | "other";
export type Palette = Record<Family | "surface", string>;

export const TRAVEL_MS = 520;

export function familyOf(kind: string): Family {
  return MESSAGES[kind]?.[0] ?? "other";
}

export function isReply(kind: string): boolean {
  return MESSAGES[kind]?.[1] ?? false;
}

function eased(share: number): number {
  return share < 0.5 ? 2 * share * share : 1 - 2 * (1 - share) * (1 - share);
}

/** Draws the dots under way at `now_ms`; a reply is hollow, and several messages make a bigger dot. */
export function draw(
  context: CanvasRenderingContext2D,
  dots: readonly Dot[],
  now_ms: number,
  rem: number,
  palette: Palette,
): void {
  for (const { curve, back, family, reply, count, left_ms } of dots) {
    const share = (now_ms - left_ms) / TRAVEL_MS;
    if (share < 0 || share > 1) continue;
    const { x, y } = along(curve, back ? 1 - eased(share) : eased(share));
    const radius = rem * Math.min(0.5, 0.24 + 0.06 * Math.log2(count));
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = reply ? palette.surface : palette[family];
    context.fill();
    context.lineWidth = rem * 0.13;
    context.strokeStyle = reply ? palette[family] : palette.surface;
    context.stroke();
  }
}
