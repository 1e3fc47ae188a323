/** Moving through time: freezing, scrubbing, stepping, other runs. */

import { api } from "../api/client";
import type { LabEvent } from "../api/schema";
import { EMPTY_PICTURE, events, isLive, type Moment, shownPicture, shownRun, useLab } from "./store";
import { complain } from "./toasts";

const HISTORY_MOST = 200;
const STEP_PAGE = 100;

let asked = new AbortController();
let history: Moment[] = [];
/** Events after the frozen one that were already fetched. */
let ahead: LabEvent[] = [];

function abandon(): AbortSignal {
  asked.abort();
  asked = new AbortController();
  return asked.signal;
}

function show(moment: Moment | null): void {
  useLab.setState({ moment });
}

/** Freezes the shown moment. */
export function freeze(): void {
  const state = useLab.getState();
  if (state.moment !== null) return;
  [history, ahead] = [[], []];
  show({ at_ns: state.live.at_ns, picture: state.live, event: null });
}

/** Returns to the present of the running cluster. */
export function goLive(): void {
  abandon();
  [history, ahead] = [[], []];
  useLab.setState({ moment: null, run: null });
}

export function toggleFrozen(): void {
  if (isLive(useLab.getState())) freeze();
  else goLive();
}

/** Shows the run at `at_ns`. Later calls win; errors become toasts. */
export async function scrubTo(at_ns: number): Promise<void> {
  const { moment, live } = useLab.getState();
  show({ at_ns, picture: moment?.picture ?? live, event: null });
  await seek(at_ns, moment);
}

/** Shows the live run as it was right after an event. */
export async function showEvent(event: LabEvent): Promise<void> {
  const { liveRun } = useLab.getState();
  if (liveRun === null) return;
  freeze();
  const signal = abandon();
  try {
    const picture = await api.picture(liveRun, { seq: event.seq }, signal);
    if (signal.aborted) return;
    [history, ahead] = [[], []];
    show({ at_ns: event.at_ns, picture, event });
  } catch (error) {
    if (!signal.aborted) complain(error);
  }
}

/** A failure restores `before` where it is given. */
async function seek(at_ns: number | undefined, before?: Moment | null): Promise<void> {
  const run = shownRun(useLab.getState());
  if (run === null) return;
  const signal = abandon();
  try {
    const picture = await api.picture(run, { at_ns: at_ns && Math.round(at_ns) }, signal);
    if (signal.aborted) return;
    [history, ahead] = [[], []];
    show({ at_ns: at_ns ?? picture.at_ns, picture, event: null });
  } catch (error) {
    if (signal.aborted) return;
    if (before !== undefined) show(before);
    complain(error);
  }
}

/** Opens a run at `at_ns` or at its end; the live run opens at the present. */
export async function openRun(run: number, at_ns?: number): Promise<void> {
  if (run === useLab.getState().liveRun && at_ns === undefined) return goLive();
  const past = run === useLab.getState().liveRun ? null : run;
  useLab.setState({ run: past, moment: { at_ns: 0, picture: EMPTY_PICTURE, event: null } });
  await seek(at_ns);
}

let stepping = Promise.resolve();

/** The next event of the frozen run, and the picture after it; a held key steps one by one. */
export function stepForward(): Promise<void> {
  freeze();
  stepping = stepping.then(step);
  return stepping;
}

async function step(): Promise<void> {
  const state = useLab.getState();
  const [run, moment] = [shownRun(state), state.moment];
  if (run === null || moment === null) return;
  try {
    const next = await nextEvent(run, moment.picture.seq);
    if (next === null || useLab.getState().moment !== moment) return;
    const picture = await api.picture(run, { seq: next.seq });
    if (useLab.getState().moment !== moment) return;
    history = [...history.slice(1 - HISTORY_MOST), moment];
    show({ at_ns: Math.max(moment.at_ns, next.at_ns), picture, event: next });
  } catch (error) {
    complain(error);
  }
}

async function nextEvent(run: number, seq: number): Promise<LabEvent | null> {
  ahead = ahead.filter((event) => event.seq > seq);
  if (ahead.length === 0 && run === useLab.getState().liveRun) ahead = heldAfter(seq);
  if (ahead.length === 0) ahead = (await api.events(run, { after: seq, limit: STEP_PAGE })).events;
  return ahead[0] ?? null;
}

function heldAfter(seq: number): LabEvent[] {
  const oldest = events.at(0);
  if (oldest === undefined || oldest.seq > seq + 1) return [];
  const first = events.firstIndex((event) => event.seq > seq);
  return events.from(first).slice(0, STEP_PAGE);
}

/** One step back; before the first step, to the moment before the newest shown event. */
export async function stepBack(): Promise<void> {
  freeze();
  const last = history.at(-1);
  if (last === undefined) {
    const { at_ns, seq } = shownPicture(useLab.getState());
    if (seq > 0) await seek(at_ns - 1);
    return;
  }
  history = history.slice(0, -1);
  ahead = [];
  show(last);
}
