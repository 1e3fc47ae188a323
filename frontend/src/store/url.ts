/** The URL names what is shown: `/?run=2&at=…&select=mds1`, `/namespace?path=/a/b`. A link opens the same picture. */

import { openRun } from "./moment";
import { type LabState, type PageName, type Selection, useLab } from "./store";

const WRITE_MS = 300;

function selectionText(selection: Selection | null): string {
  if (selection?.kind === "server") return selection.name;
  return selection?.kind === "link" ? `${selection.a}~${selection.b}` : "";
}

function selectionOf(text: string): Selection | null {
  const [a = "", b] = text.split("~");
  if (b !== undefined) return { kind: "link", a, b };
  return a === "" ? null : { kind: "server", name: a };
}

export function searchOf({ run, moment, liveRun, selection }: LabState): string {
  const query = new URLSearchParams();
  const shown = run ?? liveRun;
  if ((run !== null || moment !== null) && shown !== null) query.set("run", String(shown));
  if (moment !== null && moment.at_ns > 0) query.set("at", String(Math.round(moment.at_ns)));
  const text = selectionText(selection);
  if (text !== "") query.set("select", text);
  const search = query.toString().replaceAll("%7E", "~");
  return search === "" ? "" : `?${search}`;
}

const NAMESPACE = "/namespace";

/** The address of a page as it is now. */
export function addressOf(page: PageName, state: LabState): string {
  if (page === "cluster") return `/${searchOf(state)}`;
  const query = new URLSearchParams({ path: state.path }).toString().replaceAll("%2F", "/");
  return state.path === "/" ? NAMESPACE : `${NAMESPACE}?${query}`;
}

/** Which page an address names, and which path on it. */
export function pageOf({ pathname, search }: { pathname: string; search: string }): {
  page: PageName;
  path: string;
} {
  const path = new URLSearchParams(search).get("path") ?? "/";
  const clean = path.startsWith("/") ? path.replace(/\/+$/, "") || "/" : "/";
  return pathname === NAMESPACE ? { page: "namespace", path: clean } : { page: "cluster", path: "/" };
}

/** Goes to another page; Back leads back to this one. */
export function goTo(page: PageName): void {
  const state = useLab.getState();
  if (state.page === page) return;
  history.pushState(null, "", addressOf(page, state));
  useLab.setState({ page, menu: null });
}

function whole(text: string | null): number | undefined {
  return text !== null && /^\d{1,17}$/.test(text) ? Number(text) : undefined;
}

/** Opens what the URL names as soon as the live run is known, and writes the URL from then on. */
export function followUrl(): () => void {
  const wanted = new URLSearchParams(location.search);
  const [run, at_ns] = [whole(wanted.get("run")), whole(wanted.get("at"))];
  const selection = selectionOf(wanted.get("select") ?? "");
  useLab.setState(pageOf(location));
  if (selection !== null) useLab.setState({ selection });
  let waiting = run !== undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const write = (): void => {
    timer = undefined;
    const state = useLab.getState();
    const address = addressOf(state.page, state);
    if (address !== `${location.pathname}${location.search}`) history.replaceState(null, "", address);
  };
  const onBack = (): void => useLab.setState(pageOf(location));
  window.addEventListener("popstate", onBack);
  const stop = useLab.subscribe((state) => {
    if (waiting && state.liveRun !== null && run !== undefined) {
      waiting = false;
      queueMicrotask(() => void openRun(run, at_ns));
    }
    if (!waiting) timer ??= setTimeout(write, WRITE_MS);
  });
  return () => {
    window.removeEventListener("popstate", onBack);
    clearTimeout(timer);
    stop();
  };
}
