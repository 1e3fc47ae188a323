import { t } from "@lingui/core/macro";
import type { ClockChange, ClockState, UntilChoice } from "../../api/schema";
import { NS_PER_S, sinceStart } from "../../store/time";

const SECONDS = /^(\d+(?:\.\d+)?) ?s?$/;
const EVENT = /^[A-Z][A-Za-z]*$/;

/** What a person wrote as a run of the clock: a number is an instant in virtual seconds, a word with a capital an event, the rest a condition. */
export function changeOf(text: string): ClockChange {
  const written = text.trim().replace(/\s+/g, " ");
  const seconds = SECONDS.exec(written)?.[1];
  if (seconds !== undefined) return { until_ns: Math.max(1, Math.round(Number(seconds) * NS_PER_S)) };
  return EVENT.test(written) ? { until_event: written } : { until_condition: written };
}

/** What the clock runs until; empty when nothing stops it. */
export function untilWords({ until_ns, until_event, until_condition }: ClockState): string {
  const instant = until_ns > 0 ? sinceStart(until_ns, 0, until_ns % NS_PER_S === 0 ? 0 : 3) : "";
  return [until_condition, until_event, instant].filter(Boolean).join(t` or `);
}

/** The choices that have every word. */
export function choicesWith(choices: readonly UntilChoice[], text: string): UntilChoice[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return choices.filter((choice) => {
    const said = `${choice.text} ${choice.means}`.toLowerCase();
    return words.every((word) => said.includes(word));
  });
}
