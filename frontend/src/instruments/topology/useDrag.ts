import { type PointerEvent, useEffect, useRef, useState } from "react";
import { centre, type Geometry, inside, type Point } from "./layout";

const SLACK_PX = 8;

export interface Drag {
  name: string;
  /** Position of the card's corner. */
  at: Point;
  /** Whether the card would land on the island. */
  overIsland: boolean;
}

interface Grip {
  name: string;
  start: Point;
  moved: boolean;
}

/** Dragging a card: `onDrop` receives the drop position. A press without movement stays a click. */
export function useDrag(geometry: Geometry, onDrop: (name: string, onIsland: boolean, by: Point) => void) {
  const [drag, setDrag] = useState<Drag | null>(null);
  const grip = useRef<Grip | null>(null);
  const dropped = useRef(false);
  const latest = useRef({ geometry, onDrop, drag });
  latest.current = { geometry, onDrop, drag };

  useEffect(() => {
    const move = (event: globalThis.PointerEvent): void => {
      const held = grip.current;
      if (held === null) return;
      const box = latest.current.geometry.cards[held.name];
      const by = { x: event.clientX - held.start.x, y: event.clientY - held.start.y };
      held.moved ||= Math.hypot(by.x, by.y) > SLACK_PX;
      if (!held.moved || box === undefined) return;
      const at = { x: box.x + by.x, y: box.y + by.y };
      const overIsland = inside(centre({ ...box, ...at }), latest.current.geometry.island);
      setDrag({ name: held.name, at, overIsland });
    };
    const end = (event: globalThis.PointerEvent): void => {
      const { drag: last, onDrop: drop } = latest.current;
      dropped.current = grip.current?.moved ?? false;
      grip.current = null;
      setDrag(null);
      const box = last === null ? undefined : latest.current.geometry.cards[last.name];
      if (dropped.current && last !== null && box !== undefined && event.type === "pointerup")
        drop(last.name, last.overIsland, { x: last.at.x - box.x, y: last.at.y - box.y });
      setTimeout(() => {
        dropped.current = false;
      });
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end);
    window.addEventListener("pointercancel", end);
    return () => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", end);
      window.removeEventListener("pointercancel", end);
    };
  }, []);

  const grab = (event: PointerEvent<HTMLElement>, name: string): void => {
    if (event.button !== 0) return;
    grip.current = { name, start: { x: event.clientX, y: event.clientY }, moved: false };
  };
  /** Whether the next click belongs to a drag. */
  const wasDrag = (): boolean => dropped.current;
  return { drag, grab, wasDrag };
}
