import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { goLive, stepBack, stepForward } from "../store/moment";
import { Scrubber } from "./Scrubber";

/** Navigation through a run, and back to the present; in a row of its own, so that freezing moves nothing beside the clock. */
export function MomentBar() {
  return (
    <section className="moment-bar" aria-label={t`Way through the run`}>
      <button
        type="button"
        className="plain"
        title={t`Back by one event (,)`}
        aria-label={t`Back by one event`}
        onClick={() => void stepBack()}
      >
        ◂
      </button>
      <button
        type="button"
        className="plain"
        title={t`Next event (.)`}
        aria-label={t`Next event`}
        onClick={() => void stepForward()}
      >
        ▸
      </button>
      <Scrubber />
      <button
        type="button"
        className="primary"
        title={t`Back to the present (Space)`}
        data-testid="go-live"
        onClick={goLive}
      >
        <Trans>Live</Trans>
      </button>
    </section>
  );
}
