import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type FormEvent, useCallback, useState } from "react";
import { api } from "../../api/client";
import { useLab } from "../../store/store";
import { Failed } from "../../ui/Failed";
import { TextField } from "../../ui/TextField";
import { useAsked } from "../../ui/useAsked";
import { useAttempt } from "../../ui/useAttempt";
import { Frame } from "../Frame";
import { attemptAddress } from "./attempt";
import { Lesson, Reading } from "./Lesson";
import { rememberedStudent, rememberStudent, useStudent } from "./student";

/** A lab before its start: what it is about, and what to read. */
export function StartPage({ lab }: { lab: string }) {
  const student = useStudent();
  const ask = useCallback(() => api.lab(lab, student), [lab, student]);
  const { answer, failed } = useAsked(ask);
  return (
    <Frame>
      <main className="lab-start">
        <Failed why={failed} />
        {answer === null && failed === "" && (
          <p className="waiting">
            <Trans>Reading the lab…</Trans>
          </p>
        )}
        {answer !== null && (
          <>
            <section className="panel" aria-label={t`Lesson`}>
              <h2 className="lab-title">{answer.name}</h2>
              <p className="lab-goal">{answer.goal}</p>
              <Lesson page={answer.page} />
            </section>
            <aside className="lab-start-side">
              <StartForm lab={lab} />
              <section className="panel" aria-label={t`Read before`}>
                <h3>
                  <Trans>Read before</Trans>
                </h3>
                <Reading read={answer.read} />
              </section>
            </aside>
          </>
        )}
      </main>
    </Frame>
  );
}

function StartForm({ lab }: { lab: string }) {
  const joined = useLab((state) => state.student);
  const [typed, setStudent] = useState(rememberedStudent);
  const student = joined || typed;
  const { busy, failed, attempt } = useAttempt();
  const start = (event: FormEvent): void => {
    event.preventDefault();
    void attempt(async () => {
      const begun = await api.startAttempt(lab, student.trim());
      if (joined === "") rememberStudent(student.trim());
      location.assign(attemptAddress(begun));
    });
  };
  return (
    <form className="panel lab-form fields" aria-label={t`Start`} onSubmit={start}>
      {joined === "" ? (
        <>
          <TextField
            label={t`Your name`}
            value={typed}
            onChange={setStudent}
            maxLength={60}
            required
            testId="student"
          />
          <p className="soft">
            <Trans>The name draws your numbers and keeps your progress.</Trans>
          </p>
        </>
      ) : (
        <p className="soft" data-testid="joined">
          <Trans>
            You are {joined}: your name draws your numbers. The lab takes the place of your cluster.
          </Trans>
        </p>
      )}
      <Failed why={failed} testId="start-failed" />
      <button
        type="submit"
        className="primary"
        disabled={busy || student.trim() === ""}
        data-testid="start-lab"
      >
        <Trans>Start the lab</Trans>
      </button>
    </form>
  );
}
