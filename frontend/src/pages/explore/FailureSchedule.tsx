import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useEffect, useState } from "react";
import { api, failureFile, lineOf } from "../../api/client";
import type { Failure, ScheduleStep } from "../../api/schema";
import { Failed } from "../../ui/Failed";

interface Props {
  number: number;
  /** Another one asks for the schedule again. */
  version: string;
}

/** The smallest schedule of a failure as steps, its story, and the file that repeats it. */
export function FailureSchedule({ number, version }: Props) {
  const [failure, setFailure] = useState<Failure | null>(null);
  const [failed, setFailed] = useState("");
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version stands for what has changed
  useEffect(() => {
    const stop = new AbortController();
    api.failure(number, stop.signal).then(
      (read) => {
        setFailure(read);
        setFailed("");
      },
      (error: unknown) => {
        if (!stop.signal.aborted) setFailed(lineOf(error));
      },
    );
    return () => stop.abort();
  }, [number, version]);
  if (failure === null)
    return failed === "" ? (
      <p className="waiting">
        <Trans>Reading it…</Trans>
      </p>
    ) : (
      <Failed why={failed} />
    );
  const { schedule, story, file, command, yaml, seed } = failure;
  return (
    <div className="schedule" data-testid={`schedule-${number}`}>
      <Failed why={failed} />
      <h4>
        <Trans>Cluster, seed {seed}</Trans>
      </h4>
      <ul>
        {schedule.cluster.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <h4>
        <Trans>Faults</Trans>
      </h4>
      <Steps steps={schedule.faults} none={t`None: the load alone breaks it.`} />
      <h4>
        <Trans>Clients</Trans>
      </h4>
      <Steps steps={schedule.clients} none={t`None.`} />
      {story.length > 0 && (
        <details>
          <summary>
            <Trans>What led to it, step by step</Trans>
          </summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it */}
          <pre tabIndex={0}>{story.join("\n")}</pre>
        </details>
      )}
      <details>
        <summary>
          <Trans>The scenario file</Trans>
        </summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it */}
        <pre tabIndex={0}>{yaml}</pre>
      </details>
      <p className="failure-line">
        <a className="pill" href={failureFile(number)} download={file} data-testid={`download-${number}`}>
          <Trans>Download it</Trans>
        </a>
        <span>
          <Trans>
            This line repeats it, to the same event log: <code>{command}</code>
          </Trans>
        </span>
      </p>
    </div>
  );
}

function Steps({ steps, none }: { steps: readonly ScheduleStep[]; none: string }) {
  if (steps.length === 0) return <p className="soft">{none}</p>;
  return (
    <ol>
      {steps.map(({ when, what }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: steps keep their places
        <li key={place}>
          <span className="soft figures">{when}</span> {what}
        </li>
      ))}
    </ol>
  );
}
