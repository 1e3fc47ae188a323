import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useState } from "react";
import type { ScenarioOutcome } from "../../api/schema";
import { Failed } from "../../ui/Failed";
import { useAttempt } from "../../ui/useAttempt";
import { Outcome } from "./Outcome";
import { outcomesOf, REPORT_BYTES } from "./report";

/** A report that was downloaded before, opened from its JSON file. */
export function Reopened() {
  const [outcomes, setOutcomes] = useState<ScenarioOutcome[]>([]);
  const { failed, attempt } = useAttempt();
  const open = (file: File | undefined) =>
    attempt(async () => {
      setOutcomes([]);
      if (file === undefined) return;
      if (file.size > REPORT_BYTES) throw new Error(t`the file has more than ${REPORT_BYTES >> 20} MiB`);
      setOutcomes(outcomesOf(await file.text()));
    });
  return (
    <>
      <label className="pill scenario-open">
        <Trans>Open a report (JSON)…</Trans>
        <input
          type="file"
          accept=".json,application/json"
          data-testid="open-report"
          onChange={(event) => void open(event.currentTarget.files?.[0])}
        />
      </label>
      <Failed why={failed} testId="report-failed" />
      {outcomes.map((outcome, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: results of one file
        <Outcome key={at} outcome={outcome} />
      ))}
    </>
  );
}
