import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Popover, Slider } from "@mantine/core";
import { useState } from "react";
import { changeWorkload } from "../actions/perform";
import type { Client } from "../api/schema";
import { canAct, onlyLooks, useLab } from "../store/store";
import { count } from "../store/time";

const MARKS = [1, 10, 100, 1000].map((rate) => ({ value: Math.log10(rate), label: count(rate) }));
const MOST = Math.log10(5000);

function rateOf(position: number): number {
  const rate = 10 ** position;
  const step = rate < 10 ? 1 : rate < 100 ? 5 : rate < 1000 ? 50 : 500;
  return Math.max(1, Math.round(rate / step) * step);
}

function loadWords({ rate_per_s, paused }: Client): string {
  if (paused) return t`workload paused`;
  return rate_per_s > 0 ? t`${count(rate_per_s)} calls/s` : t`as fast as it goes`;
}

/** Load of the workload: its rate on a logarithmic scale, and a pause. */
export function Throttle() {
  const client = useLab((state) => state.clients[0]);
  const enabled = useLab(canAct);
  const looks = useLab(onlyLooks);
  const [position, setPosition] = useState<number | null>(null);
  if (client === undefined) return null;
  if (looks) return <span className="soft">{loadWords(client)}</span>;
  const { rate_per_s, paused } = client;
  const shown = position ?? Math.log10(Math.max(1, rate_per_s || 5000));
  return (
    <div className="throttle">
      <button
        type="button"
        className="pill"
        disabled={!enabled}
        aria-label={paused ? t`Resume the workload` : t`Pause the workload`}
        title={paused ? t`Resume the workload` : t`Pause the workload`}
        data-testid="workload-pause"
        onClick={() => void changeWorkload({ paused: !paused })}
      >
        <span aria-hidden="true">{paused ? "▶" : "❚❚"}</span>
        <span className="throttle-word">{paused ? t`Go on` : t`Pause`}</span>
      </button>
      <Popover position="bottom-end" shadow="lg" trapFocus withArrow width="22rem">
        <Popover.Target>
          <button type="button" className="pill" disabled={!enabled} data-testid="workload">
            {loadWords(client)}
            <span aria-hidden="true"> ▾</span>
          </button>
        </Popover.Target>
        <Popover.Dropdown aria-label={t`Workload`} className="throttle-panel">
          <p className="throttle-now">
            <Trans>
              Target: <strong>{count(rateOf(shown))}</strong> calls per second
            </Trans>
          </p>
          <Slider
            thumbLabel={t`Calls a second`}
            min={0}
            max={MOST}
            step={0.01}
            marks={MARKS}
            value={shown}
            label={null}
            onChange={setPosition}
            onChangeEnd={(value) => {
              setPosition(null);
              void changeWorkload({ rate_per_s: rateOf(value), paused: false });
            }}
          />
          <button
            type="button"
            className="pill"
            onClick={() => void changeWorkload({ rate_per_s: 0, paused: false })}
          >
            <Trans>As fast as answers come</Trans>
          </button>
        </Popover.Dropdown>
      </Popover>
    </div>
  );
}
