/** A report that a person chose, read with care: it may be any file. Pure. */

import { t } from "@lingui/core/macro";
import type { ScenarioOutcome } from "../../api/schema";

/** Largest report that is opened, in bytes. */
export const REPORT_BYTES = 32 * 1024 * 1024;
/** Longest list that is shown; those of a run are far shorter. */
const LIST_MAX = 10_000;
const RESULTS_MAX = 100;

const TEXTS = ["name", "teaches", "paper", "on"] as const;
const NUMBERS = ["seed", "calls", "failed_calls", "longest_outage_ms", "started_ns", "ended_ns"] as const;

type Fields = Record<string, unknown>;

/** The results in a file of `run --report` or of this page. Throws with one line for any other text. */
export function outcomesOf(text: string): ScenarioOutcome[] {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw new Error(t`not a report: it is no JSON`);
  }
  const all = Array.isArray(data) ? data : [data];
  if (all.length > RESULTS_MAX) throw new Error(t`the report has more than ${RESULTS_MAX} results`);
  if (all.length === 0) throw new Error(t`the report is empty`);
  for (const each of all) {
    const wrong = missing(each);
    if (wrong !== "") throw new Error(t`not a report of a scenario: ${wrong}`);
  }
  return all.map((each) => ({ steps: [], story: [], curve: null, ...each }) as ScenarioOutcome);
}

function missing(each: unknown): string {
  if (!isFields(each)) return t`no object`;
  const text = TEXTS.find((name) => typeof each[name] !== "string");
  if (text !== undefined) return t`${text} is no text`;
  const number = NUMBERS.find((name) => !Number.isFinite(each[name]));
  if (number !== undefined) return t`${number} is no number`;
  if (typeof each.held !== "boolean") return t`held is neither true nor false`;
  if (!listOf(each.verdicts, (of) => texts(of, "expected", "seen") && typeof of.held === "boolean"))
    return t`verdicts are no list of expectations`;
  if (each.steps !== undefined && !listOf(each.steps, isStep)) return t`steps are no list of steps`;
  if (each.story !== undefined && !(isList(each.story) && each.story.every(isText)))
    return t`story is no list of lines`;
  return each.curve === undefined || each.curve === null || isCurve(each.curve) ? "" : t`curve is no curve`;
}

function isStep(of: Fields): boolean {
  return texts(of, "text", "state", "why") && Number.isFinite(of.number) && Number.isFinite(of.at_ns);
}

function isCurve(curve: unknown): boolean {
  if (!isFields(curve) || !(Number(curve.bucket_ns) > 0)) return false;
  const counts = [curve.ok, curve.failed];
  if (!counts.every((each) => isList(each) && each.every(Number.isFinite))) return false;
  const spans = curve.outages;
  return (
    isList(spans) && spans.every((span) => isList(span) && span.length === 2 && span.every(Number.isFinite))
  );
}

function listOf(list: unknown, right: (of: Fields) => boolean): boolean {
  return isList(list) && list.every((of) => isFields(of) && right(of));
}

function isList(of: unknown): of is unknown[] {
  return Array.isArray(of) && of.length <= LIST_MAX;
}

function isFields(of: unknown): of is Fields {
  return typeof of === "object" && of !== null && !Array.isArray(of);
}

function isText(of: unknown): of is string {
  return typeof of === "string";
}

function texts(of: Fields, ...names: string[]): boolean {
  return names.every((name) => isText(of[name]));
}
