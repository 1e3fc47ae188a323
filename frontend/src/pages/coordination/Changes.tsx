import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { TreeChanges } from "../../api/schema";
import { count } from "../../store/time";
import { EventLine, Why } from "./Why";

/** The newest changes of the global view; the events that led to each are one click away. */
export function Changes({ changes, left_out }: TreeChanges) {
  if (changes.length === 0)
    return (
      <p className="waiting">
        <Trans>Nothing has changed in this run yet.</Trans>
      </p>
    );
  return (
    <>
      <ol className="tree-changes" data-testid="changes">
        {changes.map((change) => (
          <li key={change.event.seq} data-testid={`change-${change.event.seq}`}>
            <EventLine event={change.event} />
            <details>
              <summary>
                {change.causes[0] === undefined ? t`Cause` : t`Goes back to: ${change.causes[0].says}`}
              </summary>
              <Why change={change} />
            </details>
          </li>
        ))}
      </ol>
      {left_out > 0 && (
        <p className="soft">
          <Trans>{count(left_out)} more changes are left out.</Trans>
        </p>
      )}
    </>
  );
}
