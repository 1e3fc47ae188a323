import { goLive, stepBack, stepForward } from "../store/moment";
import { Scrubber } from "./Scrubber";

/** Navigation through a run, and back to the present; in a row of its own, so that freezing moves nothing beside the clock. */
export function MomentBar() {
  return (
    <section className="moment-bar" aria-label="Way through the run">
      <button
        type="button"
        className="plain"
        title="Back by one event (,)"
        aria-label="Back by one event"
        onClick={() => void stepBack()}
      >
        ◂
      </button>
      <button
        type="button"
        className="plain"
        title="Next event (.)"
        aria-label="Next event"
        onClick={() => void stepForward()}
      >
        ▸
      </button>
      <Scrubber />
      <button
        type="button"
        className="primary"
        title="Back to the present (Space)"
        data-testid="go-live"
        onClick={goLive}
      >
        Live
      </button>
    </section>
  );
}
