import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type FormEvent, useCallback, useEffect, useState } from "react";
import { api } from "../../api/client";
import { shownCluster } from "../../api/fleet";
import type { Attempt, Lab } from "../../api/schema";
import { Topology } from "../../instruments/topology";
import { onlyLooks, useLab } from "../../store/store";
import { Failed } from "../../ui/Failed";
import { useAsked } from "../../ui/useAsked";
import { useAttempt } from "../../ui/useAttempt";
import { ClusterFrame } from "../ClusterFrame";
import { attemptAddress } from "./attempt";
import { Lesson, Reading } from "./Lesson";
import { StartPage } from "./StartPage";
import { Steps } from "./Steps";

const EVERY_MS = 700;
const NOT_THERE = 404;

/** An attempt: the lesson beside the cluster that it is about. */
export function AttemptPage({ lab }: { lab: string }) {
  const ask = useCallback(() => api.attempt(shownCluster), []);
  const { answer, failed, status, put } = useAsked(ask, EVERY_MS);
  useEffect(() => {
    // An attempt that goes on after a new start of the control plane has a new name.
    if (answer !== null && answer.name !== shownCluster) location.replace(attemptAddress(answer));
  }, [answer]);
  const gone = failed !== "" && status === NOT_THERE;
  if (answer !== null && answer.lab !== lab) return <StartPage key={lab} lab={lab} />;
  return (
    <ClusterFrame banner={gone ? <Gone lab={lab} /> : undefined}>
      <main className="attempt">
        <section className="panel lesson" aria-label={t`Lesson`}>
          {answer === null ? (
            <Failed why={gone ? "" : failed} />
          ) : (
            <Attempted attempt={answer} failed={failed} onChange={put} />
          )}
        </section>
        <Topology />
      </main>
    </ClusterFrame>
  );
}

function Gone({ lab }: { lab: string }) {
  return (
    <div className="banner" role="alert" data-testid="attempt-gone">
      <p>
        <Trans>This attempt has ended, and its cluster is deleted.</Trans>
      </p>
      <a className="pill" href={`/labs/${lab}`}>
        <Trans>Start the lab again</Trans>
      </a>
    </div>
  );
}

interface Props {
  attempt: Attempt;
  failed: string;
  onChange: (attempt: Attempt) => void;
}

function Attempted({ attempt, failed, onChange }: Props) {
  const ask = useCallback(() => api.lab(attempt.lab, attempt.student), [attempt.lab, attempt.student]);
  const { answer: lab, failed: unread } = useAsked(ask);
  if (lab === null) return <Failed why={unread} />;
  return (
    <>
      <h2 className="lab-title">{lab.name}</h2>
      <p className="lab-goal">{lab.goal}</p>
      <Verdict attempt={attempt} />
      <details className="lab-more" open={attempt.phase === "predict"}>
        <summary>
          <Trans>The lesson</Trans>
        </summary>
        <Lesson page={lab.page} />
      </details>
      <Form lab={lab} attempt={attempt} onChange={onChange} />
      <Failed why={failed || attempt.trouble} />
      {attempt.lost.length > 0 && <Story lines={attempt.lost} />}
      <details className="lab-more">
        <summary>
          <Trans>What to read in the paper</Trans>
        </summary>
        <Reading read={lab.read} />
      </details>
    </>
  );
}

/** Announced as it changes. */
function Verdict({ attempt }: { attempt: Attempt }) {
  const passed = attempt.steps.filter(({ state }) => state === "passed").length;
  const text = {
    predict: t`First predict: answer the questions. Then the load begins, and you may break things.`,
    run: t`The run is under way, for ${Math.floor(attempt.run_s)} s. Cause the fault in the picture, and wait until the cluster is calm.`,
    over: attempt.passed
      ? t`Passed: every prediction and every check.`
      : t`${passed} of ${attempt.steps.length} steps passed.`,
  }[attempt.phase];
  return (
    <p
      className="lab-verdict"
      data-phase={attempt.phase}
      data-passed={attempt.passed}
      data-testid="verdict"
      role={attempt.phase === "over" ? "status" : undefined}
    >
      {text}
    </p>
  );
}

function Form({ lab, attempt, onChange }: { lab: Lab; attempt: Attempt; onChange: Props["onChange"] }) {
  const [answers, setAnswers] = useState<Record<string, string>>({});
  const { busy, failed, attempt: tried } = useAttempt();
  const looks = useLab(onlyLooks);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void tried(async () => {
      if (attempt.phase === "predict") onChange(await api.predict(attempt.name, answers));
      else if (attempt.phase === "run") onChange(await api.verdict(attempt.name));
      else location.assign(attemptAddress(await api.startAttempt(attempt.lab, attempt.student)));
    });
  };
  const label = {
    predict: t`Predict, and begin the run`,
    run: t`End the run and check it`,
    over: t`Start again`,
  }[attempt.phase];
  return (
    <form onSubmit={submit}>
      <Steps
        lab={lab}
        attempt={attempt}
        answers={answers}
        onAnswer={(id, answer) => setAnswers((old) => ({ ...old, [id]: answer }))}
        onChange={onChange}
      />
      <Failed why={failed} testId="attempt-failed" />
      {!looks && (
        <button type="submit" className="primary" disabled={busy} data-testid="go">
          {label}
        </button>
      )}
    </form>
  );
}

function Story({ lines }: { lines: string[] }) {
  return (
    <details className="lab-more" open>
      <summary>
        <Trans>What led to the first broken promise</Trans>
      </summary>
      <ol className="lab-story" data-testid="lost">
        {lines.map((line, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the story does not change
          <li key={at}>{line}</li>
        ))}
      </ol>
    </details>
  );
}
