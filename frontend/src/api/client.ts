import type {
  Cluster,
  Directory,
  EventPage,
  FaultDone,
  FaultRequest,
  FsRequest,
  JournalRecord,
  Journals,
  Picture,
  Run,
  Timeline,
  Verb,
  WorkloadState,
} from "./types";

/** An answer that is not 2xx, or no answer at all (`status` 0); `message` is one line for a person. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

type Query = Record<string, string | number | undefined | null>;

function address(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === "" ? `/api${path}` : `/api${path}?${text}`;
}

async function ask<Answer>(path: string, init: RequestInit): Promise<Answer> {
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError(0, "the control plane does not answer");
  }
  const body: unknown = await response.json().catch(() => null);
  if (response.ok && body !== null) return body as Answer;
  const line = (body as { error?: unknown } | null)?.error;
  throw new ApiError(
    response.status,
    typeof line === "string" ? line : `the control plane said ${response.status}`,
  );
}

function get<Answer>(path: string, query?: Query, signal?: AbortSignal): Promise<Answer> {
  return ask(address(path, query), { signal: signal ?? null });
}

function post<Answer>(path: string, body: unknown): Promise<Answer> {
  const headers = { "Content-Type": "application/json" };
  return ask(address(path), { method: "POST", headers, body: JSON.stringify(body) });
}

export const api = {
  cluster: (signal?: AbortSignal) => get<Cluster>("/cluster", {}, signal),
  verbs: () => get<Verb[]>("/verbs"),
  fault: (request: FaultRequest) => post<FaultDone>("/faults", request),
  workload: (change: Partial<WorkloadState>) => post<WorkloadState>("/workload", change),
  runs: (signal?: AbortSignal) => get<Run[]>("/runs", {}, signal),
  events: (
    run: number,
    query: { after?: number; before?: number; limit?: number; kinds?: string; servers?: string },
    signal?: AbortSignal,
  ) => get<EventPage>(`/runs/${run}/events`, query, signal),
  /** Without `at_ns` the end of the run. */
  picture: (run: number, at_ns?: number, signal?: AbortSignal) =>
    get<Picture>(`/runs/${run}/picture`, { at_ns }, signal),
  timeline: (
    run: number,
    query: { from_ns?: number; to_ns?: number; buckets?: number },
    signal?: AbortSignal,
  ) => get<Timeline>(`/runs/${run}/timeline`, query, signal),
  journal: (
    run: number,
    query: { group: string; from_sn: number; to_sn: number; at_ns?: number | undefined },
    signal?: AbortSignal,
  ) => get<Journals>(`/runs/${run}/journal`, query, signal),
  /** The names behind `after`, at most 100. */
  directory: (path: string, after = "") => get<Directory>("/fs/list", { path, after }),
  fs: (request: FsRequest) => post<{ server: string }>("/fs", request),
  /** Asked of the server itself, which must run. */
  record: (server: string, sn: number, signal?: AbortSignal) =>
    get<JournalRecord>(`/journal/${encodeURIComponent(server)}/${sn}`, {}, signal),
};
