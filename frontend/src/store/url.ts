/**
 * The URL names the page, the moment and the selection: `/?run=2&at=…&select=mds1`, `/namespace?path=/a/b`, `/storage-pool?select=g1/mds1/journal`.
 * A link opens the same picture.
 */

import { inCluster } from "../api/fleet";
import { openRun } from "./moment";
import { type LabState, type PageName, type Selection, useLab } from "./store";

const WRITE_MS = 300;
const LAB = /^\/labs\/([a-z][a-z0-9-]{0,39})$/;
const PAPER = /^\/papers\/([a-z][a-z0-9-]{0,39}\/[a-z][a-z0-9.-]{0,39})$/;
const SCENARIO = /^\/scenarios\/([a-z][a-z0-9-]{0,39}\/[a-z][a-z0-9-]{0,79})$/;

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

const ADDRESSES: Record<PageName, string> = {
  cluster: "/",
  namespace: "/namespace",
  pool: "/storage-pool",
  checkpoints: "/checkpoints",
  coordination: "/coordination",
  scenarios: "/scenarios",
  compare: "/compare",
  explore: "/explore",
  labs: "/labs",
  papers: "/papers",
  class: "/class",
};

/** The URL of a page in its present state. The pages of comparisons, scenarios and the class are of no cluster. */
export function addressOf(page: PageName, state: LabState): string {
  if (page === "class") return ADDRESSES.class;
  if (page === "compare") return `${ADDRESSES.compare}${state.compare}`;
  if (page === "scenarios") return [ADDRESSES.scenarios, state.scenario].filter(Boolean).join("/");
  return inCluster(addressWithin(page, state));
}

function addressWithin(page: PageName, state: LabState): string {
  if (page === "labs" && state.lab !== "") return `${ADDRESSES.labs}/${state.lab}`;
  if (page === "papers" && state.paper !== "") return `${ADDRESSES.papers}/${state.paper}`;
  const address = ADDRESSES[page];
  if (page === "cluster") return `${address}${searchOf(state)}`;
  const query = new URLSearchParams();
  if (page === "namespace" && state.path !== "/") query.set("path", state.path);
  if (page === "pool" && state.spot !== "") query.set("select", state.spot);
  const search = query.toString().replaceAll("%2F", "/");
  return search === "" ? address : `${address}?${search}`;
}

/** The page of a URL, and the selection on it. */
export function pageOf({
  pathname,
  search,
}: {
  pathname: string;
  search: string;
}): Pick<LabState, "page" | "path" | "spot" | "compare" | "lab" | "paper" | "scenario"> {
  const lab = LAB.exec(pathname)?.[1] ?? "";
  const scenario = SCENARIO.exec(pathname)?.[1] ?? "";
  const paper = PAPER.exec(pathname)?.[1] ?? "";
  const top = `${lab}${scenario}${paper}` === "" ? pathname : `/${pathname.split("/")[1]}`;
  const named = (Object.keys(ADDRESSES) as PageName[]).find((page) => ADDRESSES[page] === top);
  const [page, query] = [named ?? "cluster", new URLSearchParams(search)];
  const path = (page === "namespace" && query.get("path")) || "/";
  const clean = path.startsWith("/") ? path.replace(/\/+$/, "") || "/" : "/";
  const spot = (page === "pool" && query.get("select")) || "";
  return { page, path: clean, spot, lab, paper, scenario, compare: page === "compare" ? search : "" };
}

/** Goes to another page; Back returns to this one. */
export function goTo(page: PageName): void {
  const state = useLab.getState();
  if (state.page === page) {
    if (page === "labs" && state.lab !== "") openLab("");
    if (page === "papers" && state.paper !== "") openPaper("");
    if (page === "scenarios" && state.scenario !== "") openScenario("");
    return;
  }
  history.pushState(null, "", addressOf(page, state));
  useLab.setState({ page, menu: null });
}

/** Goes to a lab, or to the list of labs for an empty name. */
export function openLab(lab: string): void {
  history.pushState(null, "", addressOf("labs", { ...useLab.getState(), lab }));
  useLab.setState({ page: "labs", lab, menu: null });
}

/** Goes to a mechanism or an experiment, or to the list of papers for an empty name. */
export function openPaper(paper: string): void {
  history.pushState(null, "", addressOf("papers", { ...useLab.getState(), paper }));
  useLab.setState({ page: "papers", paper, menu: null });
}

/** Goes to a scenario, or to the list of scenarios for an empty name. */
export function openScenario(scenario: string): void {
  history.pushState(null, "", addressOf("scenarios", { ...useLab.getState(), scenario }));
  useLab.setState({ page: "scenarios", scenario, menu: null });
}

function whole(text: string | null): number | undefined {
  return text !== null && /^\d{1,17}$/.test(text) ? Number(text) : undefined;
}

/** Opens the state of the URL as soon as the live run is known, and writes the URL from then on. */
export function followUrl(): () => void {
  const wanted = new URLSearchParams(location.search);
  const [run, at_ns] = [whole(wanted.get("run")), whole(wanted.get("at"))];
  const named = pageOf(location);
  const selection = selectionOf(named.page === "cluster" ? (wanted.get("select") ?? "") : "");
  useLab.setState(named);
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
