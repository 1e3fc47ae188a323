import { describe, expect, it } from "vitest";
import type { ClockState } from "../../api/schema";
import { changeOf, choicesWith, untilWords } from "./until";

const clock: ClockState = {
  ...{ now_ns: 0, playing: true, speed: 1, reached: 0 },
  ...{ until_ns: 0, until_event: "", until_condition: "", met: "" },
};

describe("what a run goes on until", () => {
  it("is an instant for a number, of virtual seconds", () => {
    expect(changeOf("60")).toEqual({ until_ns: 60_000_000_000 });
    expect(changeOf(" 0.25 s ")).toEqual({ until_ns: 250_000_000 });
    expect(changeOf("0")).toEqual({ until_ns: 1 });
  });

  it("is an event for a word with a capital, else a condition", () => {
    expect(changeOf("Serving")).toEqual({ until_event: "Serving" });
    expect(changeOf("  mds2  is standby ")).toEqual({ until_condition: "mds2 is standby" });
    expect(changeOf("-5")).toEqual({ until_condition: "-5" });
    expect(changeOf("1e9")).toEqual({ until_condition: "1e9" });
    expect(changeOf("Serving now")).toEqual({ until_condition: "Serving now" });
  });

  it("is told in the words of the request", () => {
    expect(untilWords(clock)).toBe("");
    expect(untilWords({ ...clock, until_condition: "settled" })).toBe("settled");
    expect(untilWords({ ...clock, until_ns: 90_000_000_000 })).toBe("1:30");
    expect(untilWords({ ...clock, until_ns: 1_500_000_000 })).toBe("0:01.500");
    expect(untilWords({ ...clock, until_event: "Serving", until_ns: 3_600_000_000_000 })).toBe(
      "Serving or 1:00:00",
    );
  });
});

describe("the choices", () => {
  const choices = [
    { text: "settled", means: "every group is served" },
    { text: "Serving", means: "a takeover ends" },
  ];

  it("are found by words of the text or of the meaning, in any order", () => {
    expect(choicesWith(choices, "")).toEqual(choices);
    expect(choicesWith(choices, "takeover")).toEqual([choices[1]]);
    expect(choicesWith(choices, "served SETTLED")).toEqual([choices[0]]);
    expect(choicesWith(choices, "60")).toEqual([]);
  });
});
