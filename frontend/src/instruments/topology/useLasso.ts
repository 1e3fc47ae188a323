import { polygonContains } from "d3";
import { type PointerEvent, useRef, useState } from "react";
import { centre, type Geometry, type Point } from "./layout";

const STEP_PX = 4;
const LEAST_POINTS = 6;

/** Drawing a loop around servers; `onCaught` receives their names in order. */
export function useLasso(geometry: Geometry, onCaught: (names: string[]) => void) {
  const [loop, setLoop] = useState<Point[]>([]);
  const origin = useRef<Point | null>(null);

  const begin = (event: PointerEvent<HTMLElement>): void => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    if (event.target instanceof Element && event.target.closest("button, a, .link-touch, [role=dialog]"))
      return;
    const frame = event.currentTarget.getBoundingClientRect();
    origin.current = { x: frame.left, y: frame.top };
    event.currentTarget.setPointerCapture(event.pointerId);
    setLoop([{ x: event.clientX - frame.left, y: event.clientY - frame.top }]);
  };
  const extend = (event: PointerEvent<HTMLElement>): void => {
    const from = origin.current;
    if (from === null) return;
    const point = { x: event.clientX - from.x, y: event.clientY - from.y };
    setLoop((old) => {
      const last = old.at(-1);
      const far = last === undefined || Math.hypot(last.x - point.x, last.y - point.y) >= STEP_PX;
      return far ? [...old, point] : old;
    });
  };
  const close = (): void => {
    if (origin.current === null) return;
    origin.current = null;
    setLoop([]);
    if (loop.length < LEAST_POINTS) {
      onCaught([]);
      return;
    }
    const polygon = loop.map(({ x, y }) => [x, y] as [number, number]);
    const caught = Object.entries({ ...geometry.cards, ...geometry.nodes }).filter(([, box]) => {
      const { x, y } = centre(box);
      return polygonContains(polygon, [x, y]);
    });
    onCaught(caught.map(([name]) => name));
  };
  return { loop, begin, extend, close };
}
