import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { line, scaleLinear } from "d3";
import { useEffect, useRef, useState } from "react";
import type { CallCurve, StepResult } from "../../api/schema";

const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [210, 48, 24, 24, 24];
const TICK_PX = 90;
const LABEL_PX = 16;
const NS_PER_S = 1e9;

/** Calls a second over a run; times without a success are shaded, and each step is a numbered line. */
export function Calls({ curve, steps }: { curve: CallCurve; steps: readonly StepResult[] }) {
  const box = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(700);
  useEffect(() => {
    if (box.current === null) return;
    const seen = new ResizeObserver(([entry]) => entry && setWidth(Math.max(240, entry.contentRect.width)));
    seen.observe(box.current);
    return () => seen.disconnect();
  }, []);
  const seconds = Math.max(0.001, (curve.ok.length * curve.bucket_ns) / NS_PER_S);
  const perSecond = (calls: number): number => (calls * NS_PER_S) / curve.bucket_ns;
  const most = perSecond(Math.max(1, ...curve.ok, ...curve.failed));
  const x = scaleLinear([0, seconds], [LEFT, width - RIGHT]).clamp(true);
  const y = scaleLinear([0, most], [HEIGHT - BOTTOM, TOP]).nice(4);
  const path = line<number>()
    .x((_, at) => x(((at + 0.5) * curve.bucket_ns) / NS_PER_S))
    .y((calls) => y(perSecond(calls)));
  return (
    <figure className="scenario-calls" ref={box}>
      <figcaption>
        <Trans>Calls a second; shaded: no success although a call waited; numbers: steps</Trans>
      </figcaption>
      <svg
        width={width}
        height={HEIGHT}
        role="img"
        aria-label={t`Calls a second over time`}
        data-testid="calls"
      >
        {curve.outages.map(([begin, end]) => (
          <rect
            key={begin}
            className="scenario-outage"
            x={x(begin / NS_PER_S)}
            y={TOP}
            width={x(end / NS_PER_S) - x(begin / NS_PER_S)}
            height={HEIGHT - BOTTOM - TOP}
          />
        ))}
        {y.ticks(4).map((at) => (
          <text key={at} x={LEFT - 8} y={y(at) + 5} textAnchor="end">
            {at}
          </text>
        ))}
        {x.ticks(Math.max(2, width / TICK_PX)).map((at) => (
          <text key={at} x={x(at)} y={HEIGHT - 5} textAnchor="middle">
            {at} s
          </text>
        ))}
        {apart(steps.map(({ number, at_ns }) => ({ number, at: x(at_ns / NS_PER_S) }))).map(
          ({ number, at, label }) => (
            <g key={number}>
              <line x1={at} x2={at} y1={TOP - 4} y2={HEIGHT - BOTTOM} />
              <text x={label} y={TOP - 8} textAnchor="middle">
                {number}
              </text>
            </g>
          ),
        )}
        <path className="scenario-ok" d={path(curve.ok) ?? ""} />
        {curve.failed.some((calls) => calls > 0) && (
          <path className="scenario-failed" d={path(curve.failed) ?? ""} />
        )}
      </svg>
    </figure>
  );
}

/** Places for the numbers of steps, so that none covers another one. */
function apart(steps: { number: number; at: number }[]) {
  let free = 0;
  return steps.map((step) => {
    const label = Math.max(step.at, free);
    free = label + LABEL_PX;
    return { ...step, label };
  });
}
