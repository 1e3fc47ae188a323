import { t } from "@lingui/core/macro";
import { isLive, runStart, stories, useLab } from "../../store/store";
import { sinceStart } from "../../store/time";
import type { Box } from "./layout";
import { placed } from "./Places";

const LINES = 50;

/** The latest event in words; while frozen, the event of the last step. */
export function Story({ box }: { box?: Box }) {
  useLab((state) => state.beat);
  const live = useLab(isLive);
  const stepped = useLab((state) => state.moment?.event ?? null);
  const start_ns = useLab(runStart);
  const lines = live ? stories.from(stories.length - LINES).reverse() : stepped === null ? [] : [stepped];
  return (
    <section
      className={`story ${box ? "story-placed" : ""}`}
      style={box && placed(box)}
      aria-label={t`What happened last`}
    >
      {lines.length === 0 ? (
        <p className="soft">
          {live
            ? t`Faults and takeovers appear here as they happen.`
            : t`A full stop steps to the next event, a comma back, Space returns to the present.`}
        </p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the list scrolls
        <ol data-testid="story" tabIndex={0} aria-label={t`Newest first`}>
          {lines.map((event) => (
            <li key={event.seq} data-kind={event.kind}>
              <span className="figures">{sinceStart(event.at_ns, start_ns, 2)}</span>
              <span title={event.says}>{event.says}</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
