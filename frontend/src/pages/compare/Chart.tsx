import { t } from "@lingui/core/macro";
import { useEffect, useRef, useState } from "react";
import type { Measured } from "../../api/schema";
import { type Curve, MARGIN, marks, plot, type Scale } from "./plot";
import { colourOf, DASHES } from "./Series";

const HEIGHT = 190;

/** One curve per configuration over the run, with the faults above. */
export function Chart({
  title,
  measured,
  curve,
  scale,
}: {
  title: string;
  measured: readonly (Measured | null)[];
  curve: (of: Measured) => Curve;
  scale: Scale;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(700);
  useEffect(() => {
    if (box.current === null) return;
    const seen = new ResizeObserver(([entry]) => entry && setWidth(Math.max(260, entry.contentRect.width)));
    seen.observe(box.current);
    return () => seen.disconnect();
  }, []);
  const there = measured.flatMap((each, index) => (each === null ? [] : [{ each, index }]));
  const seconds = Math.max(1, ...there.map(({ each }) => each.seconds));
  const made = plot(
    there.map(({ each }) => curve(each)),
    seconds,
    width,
    HEIGHT,
    scale,
  );
  const faults = marks(there[0]?.each.faults ?? [], seconds, width);
  return (
    <figure className="compare-chart" ref={box}>
      <figcaption>{title}</figcaption>
      <svg width={width} height={HEIGHT} role="img" aria-label={t`${title}, one curve per configuration`}>
        {made.yTicks.map(({ at, text }) => (
          <g key={text} className="compare-tick">
            <line x1={MARGIN.left} x2={width - MARGIN.right} y1={at} y2={at} />
            <text x={MARGIN.left - 6} y={at + 4} textAnchor="end">
              {text}
            </text>
          </g>
        ))}
        {made.xTicks.map(({ at, text }) => (
          <text key={text} className="compare-time" x={at} y={HEIGHT - 5} textAnchor="middle">
            {text}
          </text>
        ))}
        {faults.map(({ at, what, verb }) => (
          <g key={`${at} ${what}`} className="compare-fault">
            <line x1={at} x2={at} y1={MARGIN.top - 6} y2={HEIGHT - MARGIN.bottom} />
            <path d={`M${at - 4} 3h8l-4 7z`}>
              <title>{what}</title>
            </path>
            {verb !== "" && (
              <text x={at + 8} y={11}>
                {verb}
              </text>
            )}
          </g>
        ))}
        {there.map(({ index }, order) => (
          <path
            key={index}
            d={made.paths[order]}
            fill="none"
            stroke={colourOf(index)}
            strokeWidth="2"
            strokeDasharray={DASHES[index]}
          />
        ))}
      </svg>
    </figure>
  );
}
