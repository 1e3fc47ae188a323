import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { ExplainedChange, LabEvent } from "../../api/schema";
import { showEvent } from "../../store/moment";
import { EMPTY_PICTURE, type LabState, useLab } from "../../store/store";
import { count, sinceStart } from "../../store/time";
import { addressOf, goTo } from "../../store/url";
import { followed } from "../followed";

function liveStart({ runs, liveRun }: LabState): number {
  return runs.find(({ run }) => run === liveRun)?.started_ns ?? 0;
}

/** An event in a sentence, with a link to the cluster as it was right after it. */
export function EventLine({ event }: { event: LabEvent }) {
  const start_ns = useLab(liveStart);
  const liveRun = useLab((state) => state.liveRun);
  const moment = { at_ns: event.at_ns, picture: EMPTY_PICTURE, event };
  const address = addressOf("cluster", {
    ...useLab.getState(),
    run: null,
    liveRun,
    selection: null,
    moment,
  });
  const open = (): void => {
    goTo("cluster");
    useLab.setState({ run: null });
    void showEvent(event);
  };
  return (
    <span className="event-line">
      <a
        className="figures"
        href={address}
        title={t`The cluster right after this event`}
        onClick={followed(open)}
      >
        {sinceStart(event.at_ns, start_ns, 3)}
      </a>{" "}
      {event.says}
      {event.carrier !== "" && (
        <span className="soft" title={t`The message that brought the cause to this server`}>
          {" "}
          <Trans>upon {event.carrier}</Trans>
        </span>
      )}
    </span>
  );
}

/** The events that led to a change, oldest first; the change itself is the last. */
export function Why({ change, testId }: { change: ExplainedChange; testId?: string }) {
  const { event, causes, skipped, beyond } = change;
  const [first, ...rest] = causes;
  return (
    <div data-testid={testId}>
      <ol className="why">
        {beyond !== "" && (
          <li className="soft">
            <Trans>{beyond}, which is not among the kept events</Trans>
          </li>
        )}
        {first !== undefined && (
          <li>
            <EventLine event={first} />
          </li>
        )}
        {skipped > 0 && (
          <li className="soft">
            <Trans>{count(skipped)} more events</Trans>
          </li>
        )}
        {rest.map((each) => (
          <li key={each.seq}>
            <EventLine event={each} />
          </li>
        ))}
        <li>
          <EventLine event={event} />
        </li>
      </ol>
      {causes.length === 0 && beyond === "" && (
        <p className="soft">
          <Trans>No cause of it is known.</Trans>
        </p>
      )}
    </div>
  );
}
