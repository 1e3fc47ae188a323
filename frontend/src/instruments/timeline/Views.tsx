import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { ViewMark } from "../../api/schema";
import { runStart, useLab } from "../../store/store";
import { sinceStart } from "../../store/time";
import { changeWords, viewChanges } from "./viewChanges";

const SHOWN = 4;

/** The newest views of the span, and the members that joined and left with each. */
export function Views({ views, from_ns }: { views: readonly ViewMark[]; from_ns: number }) {
  const start_ns = useLab(runStart);
  const changes = viewChanges(views, from_ns);
  if (changes.length === 0)
    return (
      <p className="quiet">
        <Trans>No view change in this stretch.</Trans>
      </p>
    );
  return (
    <ol className="failovers" data-testid="views">
      {changes.slice(-SHOWN).map((change) => (
        <li key={`${change.group}-${change.number}`}>
          <span className="failover-head">
            {sinceStart(change.at_ns, start_ns, 1)}{" "}
            <b>
              <Trans>view {change.number}</Trans>
            </b>
            : {changeWords(change)}; {change.members.length}{" "}
            {change.members.length === 1 ? t`member` : t`members`}
          </span>
        </li>
      ))}
    </ol>
  );
}
