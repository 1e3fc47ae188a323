/** Faults as the API tells them and is asked for them. */

import type { Process } from "./types";

export interface VerbOption {
  name: string;
  type: "direction" | "choice" | "whole" | "number" | "share" | "switch" | "names" | "word";
  default: unknown;
  help: string;
  unit: string;
  least: number;
  most: number;
  step: number;
  choices: string[];
  /** With it the verb takes any number of targets. */
  several: boolean;
  /** Whether a form asks for it. */
  shown: boolean;
}

export type VerbTarget =
  | "server"
  | "data_node"
  | "journal_node"
  | "client"
  | "coordination"
  | "link"
  | "group"
  | "cluster"
  | "links";

/** A row of the table of faults (nodes/faults/model.py), with the options that this cluster's fabric has. */
export interface Verb {
  verb: string;
  key: string;
  label: string;
  /** At a single process, where a verb on links or groups is offered there. */
  label_one: string;
  targets: VerbTarget[];
  options: VerbOption[];
  undo: { verb: string; options: Record<string, unknown> } | null;
  danger: string | null;
  /** The states in which a process has to be; none for any. */
  states: Process[];
  lasts: boolean;
  mends: boolean;
  /** The state in which it leaves a process. */
  leaves: Process | null;
  unseats: boolean;
  empties: boolean;
  /** What it costs now is said, and asked once more. */
  asks: boolean;
  /** Templates of phrases. */
  done: string;
  done_one: string;
  undone: string;
  rule: string;
}

export interface FaultRequest {
  verb: string;
  targets: string[];
  options?: Record<string, unknown>;
}

export interface FaultDone {
  fault: number;
  added?: string | null;
}
