import { useEffect, useRef, useState } from "react";
import { type Guide, type Scene, type Script, START, takeoverScript, VIEW_SCRIPT } from "../actions/guide";
import { serves } from "../families/roles";
import type { Vocabulary } from "../families/vocabulary";
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
    // Where nothing may be kept, the guide comes again.
  }
}

const SCRIPTS = new WeakMap<Vocabulary, Script>();

/** The same script for the same words. */
function scriptOf(words: Vocabulary): Script {
  if (!words.locked) return VIEW_SCRIPT;
  const script = SCRIPTS.get(words) ?? takeoverScript(words);
  SCRIPTS.set(words, script);
  return script;
}

/** Of the first group; a leader that goes is remembered until another serves. */
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

/** Carries new events into the guide. */
function useGuide(script: Script): [Guide, (guide: Guide) => void] {
  const [guide, setGuide] = useState(START);
  const seen = useRef(-1);
  /** As it was before the events that come next: they may bring another leader. */
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
    setGuide((old) => fresh.reduce((so_far, event) => script.heard(so_far, event, scene), old));
  }, [beat, script]);
  return [guide, setGuide];
}

/** What to try first. It goes when it is told to, and does not come again. */
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
  const { told, reached } = guide;
  if (!live) return null;
  return (
    <section className="guide" aria-label="What to try first" data-testid="guide" data-step={told}>
      <span className="guide-step" aria-hidden="true">
        {told + 1}/{script.last + 1}
      </span>
      <p aria-live="polite">{said}</p>
      {told > 0 && (
        <button type="button" className="plain" onClick={() => setGuide({ ...guide, told: told - 1 })}>
          Back
        </button>
      )}
      {told < reached && (
        <button type="button" className="plain" onClick={() => setGuide({ ...guide, told: told + 1 })}>
          Next
        </button>
      )}
      <button type="button" className="plain" onClick={onEnd}>
        {told === script.last ? "Done" : "Skip"}
      </button>
    </section>
  );
}
