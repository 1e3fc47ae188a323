import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { scrubTo } from "../../store/moment";
import { runStart, useLab } from "../../store/store";
import { milliseconds, sinceStart } from "../../store/time";
import { addressOf, goTo } from "../../store/url";
import { followed } from "../followed";
import { UntilMenu } from "./UntilMenu";
import { stopWaiting, useWaiting, waitUntil } from "./waiting";

/** Waits for a condition on real servers, and reports when it held: their clock cannot be stopped. */
export function WaitUntil() {
  const real = useLab((state) => state.cluster !== null && state.virtual === null);
  const waiting = useWaiting((state) => state.waiting);
  if (!real) return null;
  const label = waiting === null || waiting.held !== null ? t`Wait until…` : t`waiting until ${waiting.text}`;
  return (
    <section className="wait-until" aria-label={t`Wait`} data-testid="wait-until">
      <UntilMenu verb="Wait" label={label} accepts="settled" onChoose={waitUntil} />
      {waiting !== null && (
        <button
          type="button"
          className="plain"
          aria-label={waiting.held === null ? t`Stop waiting` : t`Forget what was waited for`}
          data-testid="until-stop"
          onClick={stopWaiting}
        >
          ✕
        </button>
      )}
      <output data-testid="until-held">
        {waiting?.held && (
          <>
            <Trans>
              {waiting.text} after {milliseconds(waiting.held.after_ms)},
            </Trans>{" "}
            <MomentLink at_ns={waiting.held.at_ns} />
          </>
        )}
      </output>
    </section>
  );
}

function MomentLink({ at_ns }: { at_ns: number }) {
  const address = useLab((state) =>
    addressOf("cluster", { ...state, run: null, moment: { at_ns, picture: state.live, event: null } }),
  );
  const start_ns = useLab(runStart);
  return (
    <a
      href={address}
      onClick={followed(() => {
        goTo("cluster");
        void scrubTo(at_ns);
      })}
    >
      <Trans>at {sinceStart(at_ns, start_ns, 1)}</Trans>
    </a>
  );
}
