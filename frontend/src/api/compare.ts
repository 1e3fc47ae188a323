/** Comparisons as the API tells them. */

import type { Failover, Lamp } from "./types";

/** What differs from the scenario's own cluster. */
export interface ClusterChange {
  protocol?: string;
  groups?: number;
  standbys?: number;
  placement?: string;
  granularity?: string;
  cross_group?: string;
  /** "paper": all holes of the protocol's text. With `holes` in place of the scenario's own. */
  variant?: string;
  /** The paper's holes that are open; the scenario's own when left out. */
  holes?: string[];
}

export interface Choices {
  families: { name: string; says: string; groups_max: number; standbys_max: number; holes: string[] }[];
  placements: string[];
  cross_groups: string[];
  scenarios: {
    file: string;
    name: string;
    teaches: string;
    paper: string;
    cluster: Record<string, unknown>;
  }[];
}

/** What one configuration did; times begin with the workload. */
export interface Measured {
  calls: number;
  failed_calls: number;
  seconds: number;
  longest_outage_ms: number;
  p50_ms: number | null;
  p99_ms: number | null;
  messages: Record<string, { count: number; octets: number }>;
  messages_per_call: number;
  octets_per_call: number;
  log_writes: number;
  log_writes_per_call: number;
  curve: {
    bucket_ns: number;
    ok: number[];
    failed: number[];
    p50_ms: (number | null)[];
    p99_ms: (number | null)[];
  };
  faults: [number, string][];
  failovers: (Omit<Failover, "from" | "to"> & { old: string; new: string })[];
  lamps: Lamp[];
}

export interface Configuration {
  cluster: ClusterChange;
  state: "waiting" | "running" | "done" | "failed" | "cancelled";
  at_s: number;
  error: string;
  measured: Measured | null;
}

export interface Comparison {
  comparison: number;
  scenario: string;
  seed: number;
  configurations: Configuration[];
}
