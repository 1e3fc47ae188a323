import { Trans } from "@lingui/react/macro";
import { useCallback } from "react";
import { api } from "../../api/client";
import { shownCluster } from "../../api/fleet";
import type { Attempt, LabRow } from "../../api/schema";
import { useLab } from "../../store/store";
import { addressOf, openLab } from "../../store/url";
import { Failed } from "../../ui/Failed";
import { useAsked } from "../../ui/useAsked";
import { InClass } from "../class/InClass";
import { Frame } from "../Frame";
import { followed } from "../followed";
import { AttemptPage } from "./AttemptPage";
import { attemptAddress, isAttempt } from "./attempt";
import { StartPage } from "./StartPage";
import { useStudent } from "./student";
import "./labs.css";

/** The list of labs, a lab before its start, or an attempt at it. */
export function LabsPage() {
  const lab = useLab((state) => state.lab);
  if (lab === "") return <LabList />;
  return isAttempt(shownCluster) ? <AttemptPage lab={lab} /> : <StartPage key={lab} lab={lab} />;
}

function LabList() {
  const named = useStudent();
  const ask = useCallback(() => Promise.all([api.labs(named), api.attempts()]), [named]);
  const { answer, failed } = useAsked(ask);
  const student = named.trim().toLowerCase();
  return (
    <Frame>
      <main className="labs">
        <header className="page-head labs-head">
          <h2>
            <Trans>Labs</Trans>
          </h2>
          <p>
            <Trans>
              Predict what a cluster does, break it, and see whether you were right. Each lab has a simulated
              cluster of its own: nothing else can be damaged.
            </Trans>
          </p>
        </header>
        <InClass />
        <Failed why={failed} />
        {answer === null && failed === "" && (
          <p className="waiting">
            <Trans>Reading the labs…</Trans>
          </p>
        )}
        {answer !== null && (
          <ol className="tiles">
            {answer[0].map((row) => (
              <LabCard
                key={row.lab}
                row={row}
                attempt={answer[1].find(
                  (each) => each.lab === row.lab && each.student.trim().toLowerCase() === student,
                )}
              />
            ))}
          </ol>
        )}
      </main>
    </Frame>
  );
}

function LabCard({ row, attempt }: { row: LabRow; attempt: Attempt | undefined }) {
  const address = useLab((state) => addressOf("labs", { ...state, lab: row.lab }));
  const under = attempt !== undefined && attempt.phase !== "over";
  return (
    <li className="panel tile" data-testid={`lab-${row.lab}`}>
      <h3>
        <a
          href={under ? attemptAddress(attempt) : address}
          onClick={under ? undefined : followed(() => openLab(row.lab))}
        >
          {row.name}
        </a>
      </h3>
      <p>{row.goal}</p>
      <p className="tile-facts">
        <span className="lab-level">{row.level}</span>
        <span>{row.papers.join(", ")}</span>
        <span>
          <Trans>{row.minutes} minutes</Trans>
        </span>
        {row.done && (
          <strong className="lab-done">
            <Trans>✓ passed</Trans>
          </strong>
        )}
        {under && (
          <strong className="lab-under">
            <Trans>under way</Trans>
          </strong>
        )}
      </p>
    </li>
  );
}
