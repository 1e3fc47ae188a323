import { t } from "@lingui/core/macro";
import { toggleFrozen } from "../store/moment";
import { hasClock, isLive, knowsRun, runStart, shownPicture, useLab } from "../store/store";
import { sinceStart } from "../store/time";
import { useTick } from "./useTick";

/** The machine's clock while the present is shown, else the shown moment. */
function useShownNs(): number {
  const live = useLab((state) => isLive(state) && state.connection.state === "live");
  const at_ns = useLab((state) => state.moment?.at_ns ?? shownPicture(state).at_ns);
  const now_ns = useTick(live);
  return live ? now_ns : at_ns;
}

/** The shown moment, and a button to freeze it. */
export function TimeControl() {
  const shown_ns = useShownNs();
  const start_ns = useLab(runStart);
  const known = useLab(knowsRun);
  const virtual = useLab((state) => state.virtual !== null);
  const spaceIsTheClocks = useLab(hasClock);
  const live = useLab(isLive);
  const past = useLab((state) => state.run !== null);
  const moment = useLab((state) => state.moment);
  if (!known) return null;
  return (
    <section
      className="time"
      aria-label={t`Moment`}
      data-testid="time"
      data-state={live ? "live" : past ? "past" : "frozen"}
    >
      <span className="time-state" data-live={live || undefined}>
        {live ? t`live` : past ? t`past` : t`frozen`}
      </span>
      <span
        className="time-clock"
        data-testid="clock"
        data-ns={Math.round(moment?.at_ns ?? shown_ns)}
        title={
          virtual
            ? t`Since the run's start, in virtual time`
            : t`Since the run's start, on the machine's monotonic clock`
        }
      >
        {sinceStart(shown_ns, start_ns, live ? 1 : 3)}
      </span>
      {live && (
        <button
          type="button"
          className="plain"
          title={spaceIsTheClocks ? t`Freeze the picture` : t`Freeze the picture (Space)`}
          aria-label={t`Freeze the picture`}
          onClick={toggleFrozen}
        >
          ❚❚
        </button>
      )}
    </section>
  );
}
