import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type KeyboardEvent, type PointerEvent, useCallback, useMemo, useRef, useState } from "react";
import { useCanvas } from "../../draw/useCanvas";
import { goLive, scrubTo } from "../../store/moment";
import { runStart, useLab, useRunWords } from "../../store/store";
import { NS_PER_S, sinceStart } from "../../store/time";
import { draw } from "./draw";
import { Failovers } from "./Failovers";
import { heightOf, layout } from "./layout";
import { SPANS_S, useTimeline, type Window } from "./useTimeline";
import { Views } from "./Views";
import { viewsOf } from "./viewChanges";
import "./timeline.css";

const SCRUB_MS = 60;
const KEYS = [
  ["key-ok", msg`answered`],
  ["key-failed", msg`failed`],
  ["key-p50", msg`median`],
  ["key-p99", msg`99 %`],
] as const;
/** Height that is kept until the bands are known. */
const FIRST_BANDS = new Array<{ group: string }>(4).fill({ group: "" });
const NAMES: Partial<Record<number, MessageDescriptor>> = {
  10: msg`10 s`,
  30: msg`30 s`,
  60: msg`1 min`,
  180: msg`3 min`,
  600: msg`10 min`,
  1800: msg`30 min`,
  7200: msg`2 h`,
};

/** Requests, latency, roles and takeovers over time; dragging moves into the past. */
export function Timeline() {
  const [window_, setWindow] = useState<Window>({ span: 60, end_ns: null });
  const { locked } = useRunWords();
  const { data: reported, failed } = useTimeline(window_);
  const data = useMemo(
    () => (reported === null ? null : { ...reported, views: viewsOf(reported.views, locked) }),
    [reported, locked],
  );
  const start_ns = useLab(runStart);
  const cursor_ns = useLab((state) => state.moment?.at_ns ?? null);
  const geometryOf = useCallback(
    (width: number, rem: number) => (data === null ? null : layout(data, start_ns, width, rem)),
    [data, start_ns],
  );
  const [canvas, size] = useCanvas((context, box, palette) => {
    const geometry = geometryOf(box.width, box.rem);
    if (geometry !== null) draw(context, box, geometry, start_ns, cursor_ns, palette);
  });
  const geometry = useMemo(() => geometryOf(size.width, size.rem), [geometryOf, size]);
  const scrub = useScrub((x) => geometry?.at(x) ?? null);

  const spanName = NAMES[window_.span];
  const zoom = (steps: number): void =>
    setWindow((old) => {
      const place = Math.min(Math.max(SPANS_S.indexOf(old.span) + steps, 0), SPANS_S.length - 1);
      return { ...old, span: SPANS_S[place] ?? 60 };
    });
  const onKey = (event: KeyboardEvent): void => {
    const step_ns = (window_.span / 60) * NS_PER_S;
    const from_ns = cursor_ns ?? data?.to_ns ?? 0;
    if (event.key === "ArrowLeft") void scrubTo(from_ns - step_ns);
    else if (event.key === "ArrowRight") void scrubTo(from_ns + step_ns);
    else if (event.key === "Home") void scrubTo(start_ns);
    else if (event.key === "End") goLive();
    else if (event.key === "+" || event.key === "=") zoom(-1);
    else if (event.key === "-") zoom(1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const total = data === null ? 0 : data.ok.reduce((sum, value) => sum + value, 0);
  const lost = data === null ? 0 : data.failed.reduce((sum, value) => sum + value, 0);
  return (
    <>
      <header className="instrument-head">
        <h2>
          <Trans>Timeline</Trans>
        </h2>
        <span className="legend">
          {KEYS.map(([key, words]) => (
            <span key={key}>
              <i className={key} /> {i18n._(words)}
            </span>
          ))}
        </span>
        <span className="zoom">
          <button
            type="button"
            className="plain"
            aria-label={t`Shorter stretch`}
            title={t`Shorter stretch (+)`}
            onClick={() => zoom(-1)}
          >
            +
          </button>
          <span className="figures">{spanName && i18n._(spanName)}</span>
          <button
            type="button"
            className="plain"
            aria-label={t`Longer stretch`}
            title={t`Longer stretch (−)`}
            onClick={() => zoom(1)}
          >
            −
          </button>
        </span>
      </header>
      {failed !== "" && <p className="quiet">{failed}</p>}
      <canvas
        ref={canvas}
        className="timeline-canvas"
        style={{ height: `${heightOf(data?.bands ?? FIRST_BANDS)}rem` }}
        data-testid="timeline"
        tabIndex={0}
        role="slider"
        aria-label={t`Moment of the run; arrow keys go through it`}
        aria-valuemin={0}
        aria-valuemax={data === null ? 0 : Math.round((data.to_ns - start_ns) / NS_PER_S)}
        aria-valuenow={Math.round(((cursor_ns ?? data?.to_ns ?? start_ns) - start_ns) / NS_PER_S)}
        aria-valuetext={t`${sinceStart(cursor_ns ?? data?.to_ns ?? start_ns, start_ns)}; ${total} calls answered, ${lost} failed in view; ${spoken(data)}`}
        onKeyDown={onKey}
        {...scrub}
      />
      {locked ? (
        <Failovers failovers={data?.failovers ?? []} />
      ) : (
        <Views views={data?.views ?? []} from_ns={data?.from_ns ?? 0} />
      )}
    </>
  );
}

/** Dragging over the canvas moves to the moment under the pointer, a few times a second. */
function useScrub(at: (x: number) => number | null) {
  const last_ms = useRef(0);
  const move = (event: PointerEvent<HTMLCanvasElement>, force: boolean): void => {
    const now_ms = performance.now();
    if (!force && now_ms - last_ms.current < SCRUB_MS) return;
    last_ms.current = now_ms;
    const at_ns = at(event.clientX - event.currentTarget.getBoundingClientRect().left);
    if (at_ns !== null) void scrubTo(at_ns);
  };
  return {
    onPointerDown: (event: PointerEvent<HTMLCanvasElement>) => {
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      move(event, true);
    },
    onPointerMove: (event: PointerEvent<HTMLCanvasElement>) => {
      if (event.currentTarget.hasPointerCapture(event.pointerId)) move(event, false);
    },
    onPointerUp: (event: PointerEvent<HTMLCanvasElement>) => {
      if (event.currentTarget.hasPointerCapture(event.pointerId)) move(event, true);
    },
  };
}

/** Roles and faults as text, for readers who cannot see the drawing. */
function spoken(data: ReturnType<typeof useTimeline>["data"]): string {
  if (data === null) return t`nothing yet`;
  const places = data.bands.map(
    ({ server, group, spans }) => t`${server} of ${group} ${spans.map(({ letter }) => letter).join(" ")}`,
  );
  const faults = data.faults.map(({ verb, targets }) => `${verb} ${targets.join(" ")}`);
  const marks = data.barriers.map(({ name }) => name);
  const checkpoints = marks.length > 0 ? t`; checkpoints ${marks.join(", ")}` : "";
  const views = data.views.map(({ number, members }) => t`; view ${number}: ${members.join(" ")}`).join("");
  const none = t`none`;
  return t`places ${places.join(", ")}; faults ${faults.join(", ") || none}${checkpoints}${views}`;
}
