import { Trans } from "@lingui/react/macro";
import { apiOf } from "../../api/fleet";

/** Links to the report of a run that is over. */
export function Downloads({ run }: { run: number }) {
  const address = (format: string): string => apiOf(`/scenario-runs/${run}/report?format=${format}`);
  return (
    <span className="scenario-downloads">
      <a className="pill" href={address("html")} download data-testid="report-html">
        <Trans>Report (HTML)</Trans>
      </a>
      <a className="pill" href={address("json")} download data-testid="report-json">
        <Trans>Report (JSON)</Trans>
      </a>
    </span>
  );
}
