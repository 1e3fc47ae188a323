import { useEffect, useRef, useState } from "react";
import { type Guide, type Scene, type Script, START, takeoverScript, VIEW_SCRIPT } from "../actions/guide";
import type { Vocabulary } from "../api/schema";
import { serves } from "../families/roles";
import { events, isLive, type LabState, useLab, useWords } from "../store/store";

const DISMISSED = "cloverlab-guide-dismissed";
const SESSION_TIMEOUT_MS = 5_000;

function wasDismissed(): boolean {
  try {
    return localStorage.getItem(DISMISSED) !== null;
  } catch {
    return false;
  }
}

function remember(): void {
  try {
    localStorage.setItem(DISMISSED, "yes");
  } catch {
    // The guide appears again when the browser's storage is not available.
  }
}

const SCRIPTS = new WeakMap<Vocabulary, Script>();

/** The same tour for the same terms. */
function scriptOf(words: Vocabulary): Script {
  if (!words.locked) return VIEW_SCRIPT;
  const script = SCRIPTS.get(words) ?? takeoverScript(words);
  SCRIPTS.set(words, script);
  return script;
}

/** Leader of the first group; a lost leader is remembered until another one serves. */
function sceneOf({ live, cluster, verbs }: LabState): Scene {
  const [first] = Object.values(live.groups);
  const several = Object.keys(live.groups).length > 1;
  const servers = Object.values(live.servers).filter(({ group }) => group === first?.name);
  return {
    leader: first?.active ?? "",
    served: servers.some(serves),
    servers: servers.map(({ name }) => name),
    session_timeout_ms: cluster?.timing.session_timeout_ms ?? SESSION_TIMEOUT_MS,
    group: several ? (first?.name ?? "") : "",
    verbs,
  };
}

/** Passes new events to the tour. */
function useGuide(script: Script): [Guide, (guide: Guide) => void] {
  const [guide, setGuide] = useState(START);
  const seen = useRef(-1);
  /** State before the next events, which may change the leader. */
  const before = useRef<Scene | null>(null);
  const beat = useLab((state) => state.beat);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the beat tells that events came
  useEffect(() => {
    const last = events.last()?.seq ?? -1;
    if (seen.current < 0) seen.current = last;
    const from = events.firstIndex((event) => event.seq > seen.current);
    const fresh = events.from(from);
    const now = sceneOf(useLab.getState());
    const scene = before.current ?? now;
    before.current = now;
    if (fresh.length === 0) return;
    seen.current = last;
    setGuide((old) => fresh.reduce((so_far, event) => script.received(so_far, event, scene), old));
  }, [beat, script]);
  return [guide, setGuide];
}

/** The tour of the first visit. A person can close it, and it does not appear again. */
export function GuideStrip() {
  const [shown, setShown] = useState(() => !wasDismissed());
  const ready = useLab(
    (state) => sceneOf(state).servers.length > 1 && state.cluster !== null && sceneOf(state).leader !== "",
  );
  return shown && ready ? (
    <Strip
      onEnd={() => {
        remember();
        setShown(false);
      }}
    />
  ) : null;
}

function Strip({ onEnd }: { onEnd: () => void }) {
  const script = scriptOf(useWords());
  const [guide, setGuide] = useGuide(script);
  const said = useLab((state) => script.words(guide, sceneOf(state)));
  const live = useLab(isLive);
  const { reported, reached } = guide;
  if (!live) return null;
  return (
    <section className="guide" aria-label="First steps" data-testid="guide" data-step={reported}>
      <span className="guide-step" aria-hidden="true">
        {reported + 1}/{script.last + 1}
      </span>
      <p aria-live="polite">{said}</p>
      {reported > 0 && (
        <button
          type="button"
          className="plain"
          onClick={() => setGuide({ ...guide, reported: reported - 1 })}
        >
          Back
        </button>
      )}
      {reported < reached && (
        <button
          type="button"
          className="plain"
          onClick={() => setGuide({ ...guide, reported: reported + 1 })}
        >
          Next
        </button>
      )}
      <button type="button" className="plain" onClick={onEnd}>
        {reported === script.last ? "Done" : "Skip"}
      </button>
    </section>
  );
}
