import { useEffect, useRef, useState } from "react";
import { type Guide, heard, LAST, START, words } from "../actions/guide";
import { events, isLive, type LabState, useLab } from "../store/store";

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

/** Carries new events into the guide; an active that goes is remembered until another serves. */
function useGuide(): [Guide, (guide: Guide) => void, string] {
  const [guide, setGuide] = useState(START);
  const seen = useRef(-1);
  const beat = useLab((state) => state.beat);
  const active = useLab((state) => Object.values(state.live.groups)[0]?.active ?? "");
  // biome-ignore lint/correctness/useExhaustiveDependencies: the beat tells that events came
  useEffect(() => {
    const last = events.last()?.seq ?? -1;
    if (seen.current < 0) seen.current = last;
    const from = events.firstIndex((event) => event.seq > seen.current);
    const fresh = events.from(from);
    if (fresh.length === 0) return;
    seen.current = last;
    setGuide((old) => fresh.reduce((so_far, event) => heard(so_far, event, active), old));
  }, [beat, active]);
  return [guide, setGuide, active];
}

/** What to try first. It goes when it is told to, and does not come again. */
export function GuideStrip() {
  const [shown, setShown] = useState(() => !wasDismissed());
  const ready = useLab((state) => Object.values(state.live.groups).some(({ active }) => active !== ""));
  return shown && ready ? (
    <Strip
      onEnd={() => {
        remember();
        setShown(false);
      }}
    />
  ) : null;
}

function firstGroup({ live }: LabState): string {
  return Object.keys(live.groups)[0] ?? "";
}

function Strip({ onEnd }: { onEnd: () => void }) {
  const [guide, setGuide, active] = useGuide();
  const timeout_ms = useLab((state) => state.cluster?.timing.session_timeout_ms ?? SESSION_TIMEOUT_MS);
  const group = useLab((state) => (Object.keys(state.live.groups).length > 1 ? firstGroup(state) : ""));
  const live = useLab(isLive);
  const { told, reached } = guide;
  if (!live) return null;
  return (
    <section className="guide" aria-label="What to try first" data-testid="guide" data-step={told}>
      <span className="guide-step" aria-hidden="true">
        {told + 1}/{LAST + 1}
      </span>
      <p aria-live="polite">{words(guide, active, timeout_ms, group)}</p>
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
        {told === LAST ? "Done" : "Skip"}
      </button>
    </section>
  );
}
