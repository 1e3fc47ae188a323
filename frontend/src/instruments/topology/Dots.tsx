import { Trans } from "@lingui/react/macro";
import { useEffect, useRef, useState } from "react";
import { stream } from "../../store/connect";
import { messages } from "../../store/store";
import { count } from "../../store/time";
import { type Dot, draw, type Family, familyOf, isReply, type Palette, TRAVEL_MS } from "./draw";
import type { Geometry, LinkShape } from "./layout";

const DOTS_MOST = 400;
const LEFT_OUT_MS = 1_000;
const FAMILY_NAMES: Family[] = [
  ...(["call", "journal", "takeover", "renewing", "crossing", "view", "data", "other"] as const),
];

function paletteOf(element: HTMLElement): Palette {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const dots = FAMILY_NAMES.map((family) => [family, colour(`--dot-${family}`)]);
  return { ...Object.fromEntries(dots), surface: colour("--surface") } as Palette;
}

function linkTable(links: readonly LinkShape[]): Map<string, { link: LinkShape; back: boolean }> {
  const table = new Map<string, { link: LinkShape; back: boolean }>();
  for (const link of links) {
    table.set(`${link.a} ${link.b}`, { link, back: false });
    table.set(`${link.b} ${link.a}`, { link, back: true });
  }
  return table;
}

interface Props {
  geometry: Geometry;
  width: number;
  rem: number;
  moving: boolean;
  scheme: string;
}

/** Requests messages while it is on the page, and shows them on their way. */
export function Dots({ geometry, width, rem, moving, scheme }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [left_out, setLeftOut] = useState(0);

  useEffect(() => {
    stream.messages(moving);
    return () => stream.messages(false);
  }, [moving]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the scheme decides the palette that is read here
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context || !moving) return;
    const scale = window.devicePixelRatio || 1;
    element.width = Math.round(width * scale);
    element.height = Math.round(geometry.height * scale);
    const [palette, table] = [
      paletteOf(element),
      linkTable([...geometry.links, ...geometry.bridges, ...geometry.nodeLinks, ...geometry.ways]),
    ];
    let dots: Dot[] = [];
    let seen = messages.last();
    let drawn = false;
    let [frame, skipped] = [0, 0];
    const telling = setInterval(() => {
      setLeftOut(skipped);
      skipped = 0;
    }, LEFT_OUT_MS);
    const step = (now_ms: number): void => {
      dots = dots.filter(({ left_ms }) => now_ms - left_ms < TRAVEL_MS);
      for (let index = messages.length - 1; index >= 0 && messages.at(index) !== seen; index -= 1) {
        const [from, to, kind, , times] = messages.at(index) as NonNullable<typeof seen>;
        const found = table.get(`${from} ${to}`);
        if (found === undefined) continue;
        if (dots.length >= DOTS_MOST) {
          skipped += times;
          continue;
        }
        const { link, back } = found;
        const left_ms = now_ms + ((index * 37) % 90);
        dots.push({
          curve: link.curve,
          back,
          family: familyOf(kind),
          reply: isReply(kind),
          count: times,
          left_ms,
        });
      }
      seen = messages.last();
      context.setTransform(scale, 0, 0, scale, 0, 0);
      if (drawn) context.clearRect(0, 0, width, geometry.height);
      drawn = dots.length > 0;
      draw(context, dots, now_ms, rem, palette);
      frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
    return () => {
      cancelAnimationFrame(frame);
      clearInterval(telling);
      context.setTransform(scale, 0, 0, scale, 0, 0);
      context.clearRect(0, 0, width, geometry.height);
    };
  }, [geometry, width, rem, moving, scheme]);

  return (
    <div aria-hidden="true">
      {left_out > 0 && (
        <p className="dots-left">
          <Trans>{count(left_out)} messages a second not drawn</Trans>
        </p>
      )}
      <canvas ref={canvas} className="dots" style={{ width, height: geometry.height }} />
    </div>
  );
}
