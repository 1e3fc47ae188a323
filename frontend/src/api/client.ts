import { t } from "@lingui/core/macro";
import { apiOf } from "./fleet";
import type {
  Attempt,
  Behind,
  BugScore,
  Checkpoint,
  CheckpointStory,
  Checkpoints,
  Choices,
  Class,
  ClockChange,
  ClockState,
  Cluster,
  ClusterChange,
  ClusterName,
  ClusterRequest,
  Comparison,
  ConditionNow,
  Directory,
  ErrorLine,
  EventPage,
  Evidence,
  ExperimentPage,
  Failover,
  Failure,
  FaultDone,
  FaultRequest,
  FileBlocks,
  FleetMember,
  FsAnswer,
  FsRequest,
  JournalRecord,
  Journals,
  Lab,
  LabRow,
  Looked,
  MechanismPage,
  Ordered,
  PageRun,
  PaperCluster,
  PaperRow,
  Picture,
  Pool,
  PoolOrder,
  Recovering,
  Run,
  ScenarioCheck,
  ScenarioFile,
  ScenarioRow,
  ScenarioRunRequest,
  ScenarioRunRow,
  Search,
  SearchChoices,
  SearchRequest,
  Student,
  StudentKey,
  Timeline,
  TreeChanges,
  TreeView,
  UntilChoice,
  VerdictRequest,
  Wall,
  WorkloadChange,
  WorkloadState,
  Written,
} from "./schema";

/** A response other than 2xx, or no response at all (`status` 0); `message` is one line for a person. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** An error as one line. */
export function lineOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

type Query = Record<string, string | number | undefined | null>;

function address(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === "" ? apiOf(path) : `${apiOf(path)}?${text}`;
}

async function ask<Answer>(path: string, init: RequestInit): Promise<Answer> {
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError(0, t`the control plane does not answer`);
  }
  const body: unknown = await response.json().catch(() => null);
  if (response.ok && body !== null) return body as Answer;
  const line = (body as Partial<ErrorLine> | null)?.error;
  throw new ApiError(
    response.status,
    typeof line === "string" ? line : t`the control plane said ${response.status}`,
  );
}

function get<Answer>(path: string, query?: Query, signal?: AbortSignal): Promise<Answer> {
  return ask(address(path, query), { signal: signal ?? null });
}

function post<Answer>(path: string, body: unknown): Promise<Answer> {
  const headers = { "Content-Type": "application/json" };
  return ask(address(path), { method: "POST", headers, body: JSON.stringify(body) });
}

/** A student in a query; without a name the numbers are those of anybody. */
function named(student: string): Query {
  return { student: student.trim() === "" ? null : student.trim() };
}

export const api = {
  cluster: (signal?: AbortSignal) => get<Cluster>("/cluster", {}, signal),
  fault: (request: FaultRequest) => post<FaultDone>("/faults", request),
  workload: (change: WorkloadChange) => post<WorkloadState>("/workload", change),
  runs: (signal?: AbortSignal) => get<Run[]>("/runs", {}, signal),
  /** Stores the file of a run as a further past run. */
  removeRun: (run: number) => ask<Run>(address(`/runs/${run}`), { method: "DELETE" }),
  importRun: (file: File) => ask<Run>(address("/runs/import"), { method: "POST", body: file }),
  events: (
    run: number,
    query: { after?: number; before?: number; limit?: number; kinds?: string; servers?: string },
    signal?: AbortSignal,
  ) => get<EventPage>(`/runs/${run}/events`, query, signal),
  /** At that time, or after that event; without both the end of the run. */
  picture: (run: number, query: { at_ns?: number | undefined; seq?: number }, signal?: AbortSignal) =>
    get<Picture>(`/runs/${run}/picture`, query, signal),
  clusters: () => get<FleetMember[]>("/clusters"),
  createCluster: (request: ClusterRequest) => post<FleetMember>("/clusters", request),
  deleteCluster: (name: string) => ask<FleetMember[]>(address(`/clusters/${name}`), { method: "DELETE" }),
  clock: (change: ClockChange) => post<ClockState>("/clock", change),
  untilChoices: () => get<UntilChoice[]>("/conditions"),
  /** Whether a condition on the state holds. */
  conditionNow: (text: string, signal?: AbortSignal) =>
    get<ConditionNow>("/conditions/now", { text }, signal),
  timeline: (
    run: number,
    query: { from_ns?: number; to_ns?: number; buckets?: number },
    signal?: AbortSignal,
  ) => get<Timeline>(`/runs/${run}/timeline`, query, signal),
  /** Of one of the last takeovers of the live run. */
  evidence: (group: string, epoch: number, signal?: AbortSignal) =>
    get<Evidence>(`/takeovers/${encodeURIComponent(group)}/${epoch}`, {}, signal),
  failovers: (run: number) => get<Failover[]>(`/runs/${run}/failovers`),
  journal: (
    run: number,
    query: { group: string; from_sn: number; to_sn: number; at_ns?: number | undefined },
    signal?: AbortSignal,
  ) => get<Journals>(`/runs/${run}/journal`, query, signal),
  /** At most 100 names after `after`. */
  directory: (path: string, after = "") => get<Directory>("/fs/list", { path, after }),
  pool: (run: number, signal?: AbortSignal) => get<Pool[]>(`/runs/${run}/pool`, {}, signal),
  lookInImages: (path: string) => get<Looked>("/pool/look", { path }),
  orderPool: (order: PoolOrder) => post<Ordered>("/pool", order),
  /** The coordination tree as it is now. */
  coordination: (signal?: AbortSignal) => get<TreeView>("/coordination", {}, signal),
  treeChanges: (signal?: AbortSignal) => get<TreeChanges>("/coordination/changes", {}, signal),
  checkpoints: (signal?: AbortSignal) => get<Checkpoints>("/checkpoints", {}, signal),
  checkpointStory: (signal?: AbortSignal) => get<CheckpointStory>("/checkpoints/story", {}, signal),
  allBehind: (signal?: AbortSignal) => get<Behind[]>("/checkpoints/behind", {}, signal),
  behind: (name: string, signal?: AbortSignal) =>
    get<Behind>(`/checkpoints/${encodeURIComponent(name)}/behind`, {}, signal),
  mark: (name: string) => post<Checkpoint>("/checkpoints", { name }),
  recover: (name: string) => post<Recovering>("/checkpoints/recover", { name, confirmed: true }),
  /** The first blocks of a file, at most 64. */
  blocks: (path: string, signal?: AbortSignal) => get<FileBlocks>("/fs/blocks", { path }, signal),
  fs: (request: FsRequest) => post<FsAnswer>("/fs", request),
  labs: (student: string) => get<LabRow[]>("/labs", named(student)),
  lab: (name: string, student: string) => get<Lab>(`/labs/${name}`, named(student)),
  attempts: () => get<Attempt[]>("/attempts"),
  attempt: (name: string) => get<Attempt>(`/attempts/${name}`),
  startAttempt: (lab: string, student: string) => post<Attempt>("/attempts", { lab, student }),
  predict: (name: string, answers: Record<string, string>) =>
    post<Attempt>(`/attempts/${name}/answers`, { answers }),
  hint: (name: string, step: string) => post<Attempt>(`/attempts/${name}/hints`, { step }),
  /** Ends the run and grades it. */
  verdict: (name: string) => post<Attempt>(`/attempts/${name}/verdict`, {}),
  papers: () => get<PaperRow[]>("/papers"),
  /** A mechanism, as "paper/mechanism". */
  mechanism: (paper: string) => get<MechanismPage>(`/papers/${paper}`),
  experiment: (name: string) => get<ExperimentPage>(`/experiments/${name}`),
  openPaperCluster: (paper: string, mechanism: string) =>
    post<PaperCluster>("/paper-clusters", { paper, mechanism }),
  paperCluster: (name: string) => get<PaperCluster>(`/paper-clusters/${name}`),
  /** Who uses the page that shows a cluster; without a name it is the instructor. */
  me: (cluster: string) => get<Student>("/class/me", { cluster }),
  /** The student's free cluster, which begins where there is none. */
  openMyCluster: () => post<ClusterName>("/class/me/cluster", {}),
  handIn: (verdict: VerdictRequest) => post<Student>("/class/me/verdicts", verdict),
  wall: () => get<Wall>("/class/wall"),
  startClass: (name: string) => post<Class>("/class", { name }),
  endClass: () => post<Class>("/class/end", {}),
  joining: (joining: boolean) => post<Class>("/class/joining", { joining }),
  newKey: (student: string) => post<StudentKey>(`/class/students/${student}/key`, {}),
  /** Repeats the run of a student in a cluster of its own. */
  forkStudent: (student: string) => post<ClusterName>(`/class/students/${student}/fork`, {}),
  removeStudent: (student: string) => ask<Class>(address(`/class/students/${student}`), { method: "DELETE" }),
  scenarios: () => get<ScenarioRow[]>("/scenarios"),
  /** A shipped scenario, as "folder/name". */
  scenario: (file: string) => get<ScenarioFile>(`/scenarios/${file}`),
  scenarioSchema: () => get<unknown>("/scenarios/schema"),
  checkScenario: (text: string) => post<ScenarioCheck>("/scenarios/check", { text }),
  runScenario: (request: ScenarioRunRequest) => post<PageRun>("/scenario-runs", request),
  /** The newest runs, the newest first. */
  scenarioRuns: () => get<ScenarioRunRow[]>("/scenario-runs"),
  scenarioRun: (run: number) => get<PageRun>(`/scenario-runs/${run}`),
  cancelScenarioRun: (run: number) => ask<PageRun>(address(`/scenario-runs/${run}`), { method: "DELETE" }),
  compareChoices: () => get<Choices>("/compare/choices"),
  compare: (scenario: string, seed: number, configurations: ClusterChange[]) =>
    post<Comparison>("/compare", { scenario, seed, configurations }),
  comparison: (number: number) => get<Comparison>(`/compare/${number}`),
  cancelComparison: (number: number) => ask<Comparison>(address(`/compare/${number}`), { method: "DELETE" }),
  searchChoices: () => get<SearchChoices>("/explore/choices"),
  /** Of each known bug that was measured on this machine, its last search. */
  scores: () => get<Record<string, BugScore>>("/explore/scores"),
  search: (signal?: AbortSignal) => get<Search>("/explore", {}, signal),
  beginSearch: (request: SearchRequest) => post<Search>("/explore", request),
  stopSearch: () => ask<Search>(address("/explore"), { method: "DELETE" }),
  failure: (number: number, signal?: AbortSignal) => get<Failure>(`/explore/failures/${number}`, {}, signal),
  play: (number: number) => post<FleetMember>(`/explore/failures/${number}/play`, {}),
  shrink: (number: number) => post<Search>(`/explore/failures/${number}/shrink`, {}),
  /** A journal group from the disk of a server, which must run. */
  record: (server: string, sn: number, signal?: AbortSignal) =>
    get<JournalRecord>(`/journal/${encodeURIComponent(server)}/${sn}`, {}, signal),
};

/** URL of the results of the class. */
export const RESULTS = address("/class/results.csv");

/** URL of the scenario file of a failure. */
export function failureFile(number: number): string {
  return address(`/explore/failures/${number}/file`);
}

/** URL of an experiment's plot; the time of the run keeps browsers from showing an older one. */
export function plotAddress(name: string, ran_at_s: number): string {
  return address(`/experiments/${name}/plot`, { ran: Math.round(ran_at_s) });
}

/** URL of a file's content. */
export function contentAddress(path: string): string {
  return address("/fs/content", { path });
}

/** URL of a run as one file. */
export function runAddress(run: number): string {
  return address(`/runs/${run}/export`);
}

/** Uploads a local file as a new one; `progress` receives the share that was sent. The body is never held in memory. */
export function upload(
  path: string,
  file: File,
  progress: (share: number) => void,
  signal: AbortSignal,
): Promise<Written> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const fail = (status: number, line: string): void => reject(new ApiError(status, line));
    request.open("PUT", contentAddress(path));
    request.responseType = "json";
    request.upload.onprogress = ({ loaded }) => progress(file.size > 0 ? loaded / file.size : 1);
    request.onload = () => {
      const body = request.response as Partial<Written & ErrorLine> | null;
      if (request.status < 300 && body?.size !== undefined) resolve({ size: body.size });
      else fail(request.status, body?.error ?? t`the control plane said ${request.status}`);
    };
    request.onerror = () => fail(0, t`the control plane does not answer`);
    request.onabort = () => fail(0, t`stopped: the bytes sent so far are in ${path}`);
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}
