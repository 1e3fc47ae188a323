import { type RefObject, useEffect, useRef, useState } from "react";

/** The size of a canvas in CSS pixels and of one rem. */
export interface Size {
  width: number;
  height: number;
  rem: number;
}

export type Palette = (name: string) => string;

/** Colours by the names of their custom properties, read once for each colour scheme. */
export function paletteOf(element: HTMLElement): Palette {
  const style = getComputedStyle(element);
  const known = new Map<string, string>();
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const value = style.getPropertyValue(`--${name}`).trim() || "#888";
    known.set(name, value);
    return value;
  };
}

/**
 * A canvas that fills its box at the screen's resolution. `paint` is called after each render of the owner,
 * and when the box or the colour scheme changes.
 */
export function useCanvas(
  paint: (context: CanvasRenderingContext2D, size: Size, palette: Palette) => void,
): [RefObject<HTMLCanvasElement | null>, Size] {
  const ref = useRef<HTMLCanvasElement | null>(null);
  const [size, setSize] = useState<Size>({ width: 0, height: 0, rem: 16 });
  const [scheme, setScheme] = useState(0);

  useEffect(() => {
    const canvas = ref.current;
    if (canvas === null) return;
    const measure = (): void => {
      const { width, height } = canvas.getBoundingClientRect();
      const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
      setSize((old) => (old.width === width && old.height === height ? old : { width, height, rem }));
    };
    const boxes = new ResizeObserver(measure);
    boxes.observe(canvas);
    const schemes = new MutationObserver(() => setScheme((count) => count + 1));
    schemes.observe(document.documentElement, { attributeFilter: ["data-mantine-color-scheme"] });
    measure();
    return () => {
      boxes.disconnect();
      schemes.disconnect();
    };
  }, []);

  useEffect(() => {
    const canvas = ref.current;
    const context = canvas?.getContext("2d");
    if (!canvas || !context || size.width === 0) return;
    void scheme;
    const scale = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(size.width * scale), Math.round(size.height * scale)];
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
    paint(context, size, paletteOf(canvas));
  });

  return [ref, size];
}
