import { describe, expect, it } from "vitest";
import type { LabEvent } from "../api/types";
import { heard, LAST, START, words } from "./guide";

const event = (kind: string, fields: object): LabEvent => ({ kind, server: "mds2", ...fields }) as LabEvent;

const STORY = [
  event("FaultInjected", { verb: "crash", targets: ["mds1"], fault: 1 }),
  event("LockHeld", { group: "g1", owner: "" }),
  event("Serving", { group: "g1", epoch: 2, sn: 7 }),
  event("Placed", { of_server: "mds1", state: "junior" }),
  event("Placed", { of_server: "mds1", state: "standby" }),
];

describe("guide", () => {
  it("goes on with the cluster's events only", () => {
    const end = STORY.reduce((guide, each) => heard(guide, each, "mds1"), START);
    expect(end).toEqual({ reached: LAST, told: LAST, old: "mds1", next: "mds2", epoch: 2 });
  });

  it("waits for the active to be harmed, not for anybody", () => {
    const other = event("FaultInjected", { verb: "crash", targets: ["mds3"], fault: 1 });
    expect(heard(START, other, "mds1")).toBe(START);
    expect(heard(START, STORY[2] as LabEvent, "mds1")).toBe(START);
  });

  it("stays at what is being read after Back", () => {
    const third = STORY.slice(0, 3).reduce((guide, each) => heard(guide, each, "mds1"), START);
    const back = { ...third, told: 1 };
    expect(heard(back, STORY[3] as LabEvent, "mds2")).toMatchObject({ reached: 4, told: 1 });
  });

  it("names the group where there are several", () => {
    expect(words(START, "mds1", 5000)).toMatch(/^mds1 is the active: it answers every call\./);
    expect(words(START, "mds1", 5000, "g1")).toMatch(
      /^mds1 is the active of g1: it answers every call there\./,
    );
  });

  it("has words for every step", () => {
    for (let told = 0; told <= LAST; told += 1)
      expect(words({ ...START, told, old: "mds1" }, "mds1", 5000)).toMatch(/\w/);
  });
});
