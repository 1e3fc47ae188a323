import { useEffect, useState } from "react";
import { told } from "../actions/words";
import { api } from "../api/client";
import type { LabEvent, Lamp } from "../api/types";
import { scrubTo } from "../store/moment";
import { isLive, runStart, shownPicture, shownRun, useLab, useWords } from "../store/store";
import { count, sinceStart } from "../store/time";
import { complain } from "../store/toasts";
import { Dialog } from "../ui/Dialog";
import { capital, verdict } from "./verdict";

const SIGNS = { grey: "○", green: "✓", red: "✕" };
const WORDS = { grey: "not checked now", green: "held so far", red: "broken" };
const LOOK_BACK = 5_000;

/** The lamp at another moment: of that only failures are known, and what the run's checker says today. */
function lampThen(lamp: Lamp, explanation: string | undefined, ofLiveRun: boolean): Lamp {
  if (explanation !== undefined) return { ...lamp, state: "red", explanation };
  const state = ofLiveRun && lamp.state !== "grey" ? "green" : "grey";
  return { ...lamp, state, checked: ofLiveRun ? lamp.checked : 0, explanation: "" };
}

/** Lamps as they stood at the moment that is shown. */
function useLamps(): Lamp[] {
  const lamps = useLab((state) => state.lamps);
  const live = useLab(isLive);
  const broken = useLab((state) => shownPicture(state).lamps);
  const ofLiveRun = useLab((state) => state.run === null);
  if (live) return lamps;
  return lamps.map((lamp) => lampThen(lamp, broken[lamp.invariant], ofLiveRun));
}

/** One lamp per invariant: grey not yet checked, green held so far, red broken. */
export function Lamps() {
  const lamps = useLamps();
  const [open, setOpen] = useState<string | null>(null);
  const shown = lamps.find(({ invariant }) => invariant === open);
  return (
    <>
      <ul className="lamps" aria-label="Invariants">
        {lamps.map((lamp) => {
          const { invariant, state } = lamp;
          return (
            <li key={invariant}>
              <button
                type="button"
                className={`lamp lamp-${state}`}
                data-testid={`lamp-${invariant.replaceAll(" ", "-")}`}
                data-state={state}
                title={hint(lamp)}
                onClick={() => setOpen(invariant)}
              >
                <span className="lamp-sign" aria-hidden="true">
                  {SIGNS[state]}
                </span>
                {invariant}
                <span className="visually-hidden">, {WORDS[state]}</span>
              </button>
            </li>
          );
        })}
      </ul>
      <Dialog opened={shown !== undefined} title={shown?.invariant ?? ""} onClose={() => setOpen(null)}>
        {shown !== undefined && <LampStory lamp={shown} onClose={() => setOpen(null)} />}
      </Dialog>
    </>
  );
}

function LampStory({ lamp, onClose }: { lamp: Lamp; onClose: () => void }) {
  return (
    <div className="lamp-story">
      <p>{capital(lamp.meaning)}.</p>
      {lamp.state === "red" ? (
        <>
          <p className="lamp-why">{lamp.explanation}</p>
          <Counterexample lamp={lamp} onClose={onClose} />
        </>
      ) : (
        <p className="soft">{verdict(lamp)}</p>
      )}
    </div>
  );
}

/** What a lamp says when it is pointed at. */
function hint(lamp: Lamp): string {
  return lamp.state === "grey"
    ? `${capital(lamp.meaning)}. ${verdict(lamp)}`
    : `${capital(lamp.meaning)}: ${WORDS[lamp.state]}, ${count(lamp.checked)} checks`;
}

interface Found {
  failure: LabEvent | null;
  evidence: LabEvent[];
}

async function findCounterexample(run: number, lamp: Lamp, signal: AbortSignal): Promise<Found> {
  const { events: failures } = await api.events(run, { kinds: "CheckFailed", limit: 1000 }, signal);
  const failure = failures.find(
    (event) => event.kind === "CheckFailed" && event.invariant === lamp.invariant,
  );
  if (failure?.kind !== "CheckFailed") return { failure: null, evidence: [] };
  const wanted = new Set(failure.evidence.map(([server, number]) => `${server} ${number}`));
  if (wanted.size === 0) return { failure, evidence: [] };
  const servers = [...new Set(failure.evidence.map(([server]) => server))].join(",");
  const window = { after: Math.max(0, failure.seq - LOOK_BACK), before: failure.seq + 1, limit: LOOK_BACK };
  const { events } = await api.events(run, { ...window, servers }, signal);
  return { failure, evidence: events.filter(({ server, number }) => wanted.has(`${server} ${number}`)) };
}

function Counterexample({ lamp, onClose }: { lamp: Lamp; onClose: () => void }) {
  const run = useLab(shownRun);
  const start_ns = useLab(runStart);
  const words = useWords();
  const verbs = useLab((state) => state.verbs);
  const [found, setFound] = useState<Found | null>(null);
  useEffect(() => {
    if (run === null) return;
    const asked = new AbortController();
    findCounterexample(run, lamp, asked.signal)
      .then(setFound)
      .catch((error: unknown) => asked.signal.aborted || complain(error));
    return () => asked.abort();
  }, [run, lamp]);
  if (found === null) return <p className="soft">Looking for the events that show it…</p>;
  const { failure, evidence } = found;
  return (
    <>
      {evidence.length > 0 && (
        <ol className="evidence">
          {evidence.map((event) => (
            <li key={event.seq}>
              <span className="figures">{sinceStart(event.at_ns, start_ns, 3)}</span>
              {told(event, words, verbs)}
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
          Show the moment it broke ({sinceStart(failure.at_ns, start_ns, 3)})
        </button>
      )}
    </>
  );
}
