import { i18n } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useEffect, useState } from "react";
import { api } from "../api/client";
import type { InvariantStatus, LabEvent } from "../api/schema";
import { scrubTo } from "../store/moment";
import { isLive, runStart, shownPicture, shownRun, useLab } from "../store/store";
import { count, sinceStart } from "../store/time";
import { complain } from "../store/toasts";
import { Dialog } from "../ui/Dialog";
import { capital, verdict } from "./verdict";

const SIGNS = { grey: "○", green: "✓", red: "✕" };
const WORDS = { grey: msg`not checked now`, green: msg`held so far`, red: msg`broken` };
const LOOK_BACK = 5_000;

/** An invariant at another moment: only failures and the present verdict of the run's checker are known. */
function statusThen(
  status: InvariantStatus,
  explanation: string | undefined,
  ofLiveRun: boolean,
): InvariantStatus {
  if (explanation !== undefined) return { ...status, state: "red", explanation };
  const state = ofLiveRun && status.state !== "grey" ? "green" : "grey";
  return { ...status, state, checked: ofLiveRun ? status.checked : 0, explanation: "" };
}

/** Invariants at the shown moment. */
function useInvariants(): InvariantStatus[] {
  const invariants = useLab((state) => state.invariants);
  const live = useLab(isLive);
  const broken = useLab((state) => shownPicture(state).invariants);
  const ofLiveRun = useLab((state) => state.run === null);
  if (live) return invariants;
  return invariants.map((status) => statusThen(status, broken[status.invariant], ofLiveRun));
}

/** One light per invariant: grey not yet checked, green held so far, red violated. */
export function Invariants() {
  const invariants = useInvariants();
  const [open, setOpen] = useState<string | null>(null);
  const shown = invariants.find(({ invariant }) => invariant === open);
  return (
    <>
      <ul className="invariants" aria-label={t`Invariants`}>
        {invariants.map((status) => {
          const { invariant, state } = status;
          return (
            <li key={invariant}>
              <button
                type="button"
                className={`invariant invariant-${state}`}
                data-testid={`invariant-${invariant.replaceAll(" ", "-")}`}
                data-state={state}
                title={hint(status)}
                onClick={() => setOpen(invariant)}
              >
                <span className="invariant-sign" aria-hidden="true">
                  {SIGNS[state]}
                </span>
                {invariant}
                <span className="visually-hidden">, {i18n._(WORDS[state])}</span>
              </button>
            </li>
          );
        })}
      </ul>
      <Dialog opened={shown !== undefined} title={shown?.invariant ?? ""} onClose={() => setOpen(null)}>
        {shown !== undefined && <InvariantStory status={shown} onClose={() => setOpen(null)} />}
      </Dialog>
    </>
  );
}

function InvariantStory({ status, onClose }: { status: InvariantStatus; onClose: () => void }) {
  return (
    <div className="invariant-story">
      <p>{capital(status.meaning)}.</p>
      {status.state === "red" ? (
        <>
          <p className="invariant-why">{status.explanation}</p>
          <Counterexample status={status} onClose={onClose} />
        </>
      ) : (
        <p className="soft">{verdict(status)}</p>
      )}
    </div>
  );
}

/** Explanation of an invariant under the pointer. */
function hint(status: InvariantStatus): string {
  return status.state === "grey"
    ? `${capital(status.meaning)}. ${verdict(status)}`
    : `${capital(status.meaning)}: ${i18n._(WORDS[status.state])}, ${count(status.checked)} ${status.counts}`;
}

interface Found {
  failure: LabEvent | null;
  evidence: LabEvent[];
}

async function findCounterexample(run: number, status: InvariantStatus, signal: AbortSignal): Promise<Found> {
  const { events: failures } = await api.events(run, { kinds: "CheckFailed", limit: 1000 }, signal);
  const failure = failures.find(
    (event) => event.kind === "CheckFailed" && event.invariant === status.invariant,
  );
  if (failure?.kind !== "CheckFailed") return { failure: null, evidence: [] };
  const wanted = new Set(failure.evidence.map(([server, number]) => `${server} ${number}`));
  if (wanted.size === 0) return { failure, evidence: [] };
  const servers = [...new Set(failure.evidence.map(([server]) => server))].join(",");
  const window = { after: Math.max(0, failure.seq - LOOK_BACK), before: failure.seq + 1, limit: LOOK_BACK };
  const { events } = await api.events(run, { ...window, servers }, signal);
  return { failure, evidence: events.filter(({ server, number }) => wanted.has(`${server} ${number}`)) };
}

function Counterexample({ status, onClose }: { status: InvariantStatus; onClose: () => void }) {
  const run = useLab(shownRun);
  const start_ns = useLab(runStart);
  const [found, setFound] = useState<Found | null>(null);
  useEffect(() => {
    if (run === null) return;
    const asked = new AbortController();
    findCounterexample(run, status, asked.signal)
      .then(setFound)
      .catch((error: unknown) => asked.signal.aborted || complain(error));
    return () => asked.abort();
  }, [run, status]);
  if (found === null)
    return (
      <p className="soft">
        <Trans>Looking for the events that show it…</Trans>
      </p>
    );
  const { failure, evidence } = found;
  return (
    <>
      {evidence.length > 0 && (
        <ol className="evidence">
          {evidence.map((event) => (
            <li key={event.seq}>
              <span className="figures">{sinceStart(event.at_ns, start_ns, 3)}</span>
              {event.says}
            </li>
          ))}
        </ol>
      )}
      {failure !== null && (
        <button
          type="button"
          className="primary"
          onClick={() => {
            void scrubTo(failure.at_ns);
            onClose();
          }}
        >
          <Trans>Show the moment it broke ({sinceStart(failure.at_ns, start_ns, 3)})</Trans>
        </button>
      )}
    </>
  );
}
