import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useEffect, useMemo, useRef, useState } from "react";
import { goLive } from "../store/moment";
import { useLab, useWords } from "../store/store";
import { Draw } from "./Draw";
import { EvidencePanel } from "./EvidencePanel";
import type { Facts } from "./facts";
import { Phases } from "./Phases";
import { Progress } from "./Progress";
import { Stories } from "./Stories";
import { MEMBER_STEPS, type Step, takeoverSteps } from "./script";
import { closeTour, useTour } from "./store";
import { sceneOf, useFacts } from "./useFacts";
import { Words } from "./Words";
import "./tour.css";

/** The tour of the first visit. It can be closed, and opened again from the header. */
export function Tour() {
  const { open, opened } = useTour();
  const ready = useLab((state) => {
    const { servers, leader } = sceneOf(state);
    return servers.length > 1 && state.cluster !== null && leader !== "";
  });
  const ofLiveRun = useLab(({ run, liveRun }) => run === null || run === liveRun);
  return open && ready && ofLiveRun ? <Strip key={opened} /> : null;
}

function Strip() {
  const words = useWords();
  const steps = useMemo(() => (words.locked ? takeoverSteps(words) : MEMBER_STEPS), [words]);
  const facts = useFacts();
  const [at, setAt] = useState(0);
  const step = steps[Math.min(at, steps.length - 1)] as Step;
  const text = useLab((state) => step.text(facts, sceneOf(state)));
  const done = step.done(facts);
  const last = at === steps.length - 1;
  const go = (next: number): void => {
    goLive();
    setAt(next);
  };
  return (
    <section
      className="tour"
      aria-label={t`Tour`}
      data-testid="guide"
      data-step={step.id}
      data-done={done || undefined}
    >
      <header className="tour-head">
        <span className="tour-count">
          <Trans>
            Tour {at + 1}/{steps.length}
          </Trans>
        </span>
        <Title text={i18n._(step.title)} at={at} />
        <span className="tour-buttons">
          {at > 0 && (
            <button type="button" className="plain" onClick={() => go(at - 1)}>
              <Trans>Back</Trans>
            </button>
          )}
          {last ? (
            <button type="button" className="primary" onClick={closeTour}>
              <Trans>Done</Trans>
            </button>
          ) : (
            <button
              type="button"
              className="primary"
              disabled={!done}
              title={done ? "" : t`The cluster has not done its part yet`}
              onClick={() => go(at + 1)}
            >
              <Trans>Next</Trans>
            </button>
          )}
          {!last && (
            <button
              type="button"
              className="plain"
              aria-label={t`Close the tour`}
              title={t`Close the tour; the header opens it again`}
              onClick={closeTour}
            >
              ✕
            </button>
          )}
        </span>
      </header>
      <div className="tour-body">
        <p aria-live="polite">{text}</p>
        <Shown step={step} facts={facts} />
      </div>
    </section>
  );
}

/** The title gets the focus when the step changes, so that a screen reader goes on there. */
function Title({ text, at }: { text: string; at: number }) {
  const title = useRef<HTMLHeadingElement>(null);
  const first = useRef(at);
  useEffect(() => {
    if (first.current !== at) title.current?.focus();
    first.current = at;
  }, [at]);
  return (
    <h2 ref={title} tabIndex={-1}>
      {text}
    </h2>
  );
}

function Shown({ step, facts }: { step: Step; facts: Facts }) {
  switch (step.exhibit) {
    case "words":
      return <Words />;
    case "progress":
      return facts.fault === null ? null : <Progress facts={facts} />;
    case "draw":
      return facts.drawn === null ? null : <Draw drawn={facts.drawn} />;
    case "phases":
      return <Phases facts={facts} />;
    case "evidence":
      return facts.serving === null ? null : <EvidencePanel serving={facts.serving} />;
    case "stories":
      return <Stories />;
    default:
      return null;
  }
}
