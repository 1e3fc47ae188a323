import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { api } from "../../api/client";
import type { Attempt, AttemptStep, Lab, LabStep } from "../../api/schema";
import { onlyLooks, useLab } from "../../store/store";
import { Failed } from "../../ui/Failed";
import { useAttempt } from "../../ui/useAttempt";
import { Choice } from "./Choice";

const SIGNS: Record<AttemptStep["state"], string> = { open: "○", answered: "●", passed: "✓", failed: "✗" };
const WORDS: Record<AttemptStep["state"], MessageDescriptor> = {
  open: msg`open`,
  answered: msg({ context: "a step of a lab", message: "answered" }),
  passed: msg`passed`,
  failed: msg`not passed`,
};

interface Props {
  lab: Lab;
  attempt: Attempt;
  answers: Record<string, string>;
  onAnswer: (id: string, answer: string) => void;
  onChange: (attempt: Attempt) => void;
}

/** The steps, with their questions before the run, their ticks during it, and their verdicts after it. */
export function Steps({ lab, attempt, answers, onAnswer, onChange }: Props) {
  const looks = useLab(onlyLooks);
  const states = new Map(attempt.steps.map((step) => [step.id, step]));
  return (
    <ol className="lab-steps">
      {lab.steps.map((step) => {
        const state = states.get(step.id);
        return state === undefined ? null : (
          <li key={step.id} data-state={state.state} data-testid={`step-${step.id}`}>
            <span className="lab-sign" role="img" aria-label={i18n._(WORDS[state.state])}>
              {SIGNS[state.state]}
            </span>
            <div className="lab-step">
              <p id={`text-${step.id}`}>{step.text}</p>
              {step.question !== null && attempt.phase === "predict" && !looks && (
                <Choice
                  id={step.id}
                  question={step.question}
                  answer={answers[step.id] ?? ""}
                  onAnswer={(answer) => onAnswer(step.id, answer)}
                />
              )}
              <Said step={step} state={state} />
              <Seen state={state} />
              <Hints attempt={attempt} state={state} onChange={onChange} />
            </div>
          </li>
        );
      })}
    </ol>
  );
}

function Said({ step, state }: { step: LabStep; state: AttemptStep }) {
  if (step.question === null || state.state !== "answered") return null;
  const { choices, unit } = step.question;
  return (
    <p className="soft" data-testid={`said-${step.id}`}>
      <Trans>Your prediction:</Trans>{" "}
      <strong>{choices[state.answer] ?? `${state.answer} ${unit}`.trim()}</strong>
    </p>
  );
}

function Seen({ state }: { state: AttemptStep }) {
  if (state.state !== "passed" && state.state !== "failed") return null;
  return (
    <>
      {state.seen !== "" && (
        <p className="lab-seen" data-testid={`seen-${state.id}`}>
          {state.seen}
        </p>
      )}
      {state.why !== "" && <p className="soft">{state.why}</p>}
    </>
  );
}

function Hints({
  attempt,
  state,
  onChange,
}: {
  attempt: Attempt;
  state: AttemptStep;
  onChange: (attempt: Attempt) => void;
}) {
  const { busy, failed, attempt: tried } = useAttempt();
  const ask = () => tried(async () => onChange(await api.hint(attempt.name, state.id)));
  const looks = useLab(onlyLooks);
  const wanted = !looks && state.hints_left > 0 && attempt.phase !== "over" && state.state !== "passed";
  return (
    <>
      {state.hints.map((hint) => (
        <p key={hint} className="lab-hint" data-testid={`hint-${state.id}`}>
          {hint}
        </p>
      ))}
      {wanted && (
        <button
          type="button"
          className="plain lab-ask"
          disabled={busy}
          aria-describedby={`text-${state.id}`}
          data-testid={`ask-${state.id}`}
          onClick={() => void ask()}
        >
          {state.hints.length === 0 ? t`A hint` : t`Another hint`}
        </button>
      )}
      <Failed why={failed} />
    </>
  );
}
