import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useElementSize } from "@mantine/hooks";
import { MARGIN, plot, type Spot } from "./course";

const HEIGHT = 130;
const LEAST_WIDTH = 220;

/** One curve over the time of the search. */
export function CourseChart({ title, spots }: { title: string; spots: readonly Spot[] }) {
  const { ref, width: room } = useElementSize();
  const width = Math.max(LEAST_WIDTH, Math.floor(room));
  const { path, xTicks, yTicks } = plot(spots, width, HEIGHT);
  const newest = spots.at(-1)?.value ?? 0;
  return (
    <figure ref={ref}>
      <figcaption>{title}</figcaption>
      <svg
        width={width}
        height={HEIGHT}
        role="img"
        aria-label={t`${title} over time, ${Math.round(newest)} now`}
      >
        {yTicks.map(({ at, text }) => (
          <g key={text}>
            <line x1={MARGIN.left} x2={width - MARGIN.right} y1={at} y2={at} />
            <text x={MARGIN.left - 6} y={at + 4} textAnchor="end">
              {text}
            </text>
          </g>
        ))}
        {xTicks.map(({ at, text }) => (
          <text key={text} x={at} y={HEIGHT - 4} textAnchor="middle">
            {text}
          </text>
        ))}
        {spots.length === 0 && (
          <text x={width / 2} y={HEIGHT / 2} textAnchor="middle">
            <Trans>Known after two seconds</Trans>
          </text>
        )}
        <path d={path} fill="none" stroke="var(--accent)" strokeWidth="2" />
      </svg>
    </figure>
  );
}
