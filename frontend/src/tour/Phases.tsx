import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useReducedMotion } from "@mantine/hooks";
import { useEffect, useMemo, useState } from "react";
import { goLive, showEvent } from "../store/moment";
import { milliseconds } from "../store/time";
import { type Facts, type Phase, phasesOf, sinceFault } from "./facts";

const PACE_MS = 2_600;

/** The moments of the takeover. One is chosen by a click, or all are replayed one after the other. */
export function Phases({ facts }: { facts: Facts }) {
  const phases = useMemo(() => phasesOf(facts), [facts]);
  const [chosen, setChosen] = useState<number | null>(null);
  const [playing, setPlaying] = useState(false);
  const still = useReducedMotion();
  const choose = (index: number): void => {
    setChosen(index);
    void showEvent((phases[index] as Phase).event);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: each moment starts the wait for the next one
  useEffect(() => {
    if (!playing) return;
    const next = (chosen ?? -1) + 1;
    if (next >= phases.length) return setPlaying(false);
    const timer = setTimeout(() => choose(next), chosen === null ? 0 : PACE_MS);
    return () => clearTimeout(timer);
  }, [playing, chosen]);
  useEffect(() => goLive, []);
  const phase = chosen === null ? undefined : phases[chosen];
  const play = (): void => {
    if (!playing && chosen === phases.length - 1) setChosen(null);
    setPlaying(!playing);
  };
  return (
    <div className="tour-phases">
      <ol aria-label={t`Moments of the takeover`}>
        {phases.map(({ event, title }, index) => (
          <li key={event.seq}>
            <button
              type="button"
              aria-pressed={index === chosen}
              data-testid={`phase-${index}`}
              onClick={() => {
                setPlaying(false);
                choose(index);
              }}
            >
              <span className="figures">{milliseconds(sinceFault(facts, event) ?? 0)}</span>
              {title}
            </button>
          </li>
        ))}
      </ol>
      <div className="tour-phase" aria-live="polite" data-testid="tour-phase">
        {phase !== undefined && (
          <>
            <p>{phase.why}</p>
            <p className="soft">{phase.event.says}</p>
          </>
        )}
        <span className="tour-buttons">
          {!still && (
            <button type="button" className="pill" onClick={play}>
              {playing ? t`Stop` : t`Replay slowly`}
            </button>
          )}
          <button type="button" className="pill" disabled={!chosen} onClick={() => choose((chosen ?? 1) - 1)}>
            <Trans>Earlier</Trans>
          </button>
          <button
            type="button"
            className="pill"
            disabled={chosen === phases.length - 1}
            onClick={() => choose(chosen === null ? 0 : chosen + 1)}
          >
            <Trans>Later</Trans>
          </button>
        </span>
      </div>
    </div>
  );
}
