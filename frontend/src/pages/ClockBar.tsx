import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Popover, Slider } from "@mantine/core";
import { useState } from "react";
import { changeClock } from "../actions/perform";
import type { ClockState } from "../api/schema";
import { hasClock, isConnected, useLab } from "../store/store";
import { sinceStart } from "../store/time";
import { RunUntil } from "./until/RunUntil";
import { useTick } from "./useTick";

const SLOWEST = Math.log10(0.1);
const FASTEST = Math.log10(1000);
const MARKS = [0.1, 1, 10, 100, 1000].map((speed) => ({ value: Math.log10(speed), label: `×${speed}` }));
/** Share of the requested speed below which the reached one is shown. */
const KEPT = 0.9;

/** A speed of two digits. */
export function speedOf(position: number): number {
  return Number((10 ** position).toPrecision(2));
}

/** The clock of a simulated cluster: virtual time, and its controls where it is not only looked at. */
export function ClockBar() {
  const virtual = useLab((state) => state.virtual);
  const controlled = useLab(hasClock);
  const now_ns = useTick(virtual?.playing === true);
  if (virtual === null) return null;
  const { playing, speed } = virtual;
  return (
    <section
      className="clock-bar"
      aria-label={t`Virtual time`}
      data-testid="clock-bar"
      data-playing={playing}
      data-ns={Math.round(virtual.now_ns)}
    >
      {controlled ? (
        <ClockControls clock={virtual} />
      ) : (
        <span className="soft">{playing ? `×${speed}` : t`paused`}</span>
      )}
      <span className="clock-now" data-testid="clock-now">
        {sinceStart(playing ? now_ns : virtual.now_ns, 0, playing ? 1 : 6)}
      </span>
    </section>
  );
}

/** Play, pause, step, speed, and what the clock runs until. */
function ClockControls({ clock: { playing, speed, reached } }: { clock: ClockState }) {
  const enabled = useLab(isConnected);
  const [position, setPosition] = useState<number | null>(null);
  const late = playing && reached > 0 && reached < speed * KEPT;
  return (
    <>
      <button
        type="button"
        className="pill"
        disabled={!enabled}
        aria-label={playing ? t`Pause virtual time` : t`Let virtual time pass`}
        title={playing ? t`Pause virtual time (Space)` : t`Let virtual time pass (Space)`}
        data-testid="clock-play"
        onClick={() => void changeClock({ playing: !playing })}
      >
        <span aria-hidden="true">{playing ? "❚❚" : "▶"}</span>
      </button>
      <button
        type="button"
        className="pill"
        disabled={!enabled}
        title={t`Step to the next event (.)`}
        data-testid="clock-step-event"
        onClick={() => void changeClock({ step: "event" })}
      >
        <Trans>event</Trans> <span aria-hidden="true">▸</span>
      </button>
      <button
        type="button"
        className="pill"
        disabled={!enabled}
        title={t`Step to the next message`}
        data-testid="clock-step-message"
        onClick={() => void changeClock({ step: "message" })}
      >
        <Trans>message</Trans> <span aria-hidden="true">▸</span>
      </button>
      <Popover position="bottom-end" shadow="lg" trapFocus withArrow width="22rem">
        <Popover.Target>
          <button
            type="button"
            className="pill"
            disabled={!enabled}
            data-testid="clock-speed"
            title={late ? t`This machine reaches ×${reached.toPrecision(2)}` : t`Speed of virtual time`}
          >
            ×{speed}
            {late && <span className="clock-late"> (×{reached.toPrecision(2)})</span>}
            <span aria-hidden="true"> ▾</span>
          </button>
        </Popover.Target>
        <Popover.Dropdown aria-label={t`Speed`} className="throttle-panel">
          <p className="throttle-now">
            <Trans>
              Virtual time passes <strong>{speedOf(position ?? Math.log10(speed))}</strong> times as fast
            </Trans>
          </p>
          <Slider
            thumbLabel={t`Speed of virtual time`}
            min={SLOWEST}
            max={FASTEST}
            step={0.01}
            marks={MARKS}
            value={position ?? Math.log10(speed)}
            label={null}
            onChange={setPosition}
            onChangeEnd={(value) => {
              setPosition(null);
              void changeClock({ speed: speedOf(value) });
            }}
          />
        </Popover.Dropdown>
      </Popover>
      <RunUntil />
    </>
  );
}
