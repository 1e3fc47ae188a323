import { describe, expect, it } from "vitest";
import type { LabEvent } from "../api/schema";
import { vocabularyOf } from "../families/vocabulary";
import { row } from "../testing/verbs";
import { type Scene, type Script, START, takeoverScript, VIEW_SCRIPT } from "./guide";

const event = (kind: string, fields: object): LabEvent => ({ kind, server: "mds2", ...fields }) as LabEvent;
const SCENE: Scene = {
  leader: "mds1",
  served: true,
  servers: ["mds1", "mds2", "mds3"],
  session_timeout_ms: 5000,
  group: "",
  verbs: [row("crash", { unseats: true })],
};

const CRASH = event("FaultInjected", { verb: "crash", targets: ["mds1"], fault: 1 });
const STORY = [
  CRASH,
  event("LockHeld", { group: "g1", owner: "" }),
  event("Serving", { group: "g1", epoch: 2, sn: 7 }),
  event("Placed", { of_server: "mds1", state: "junior" }),
  event("Placed", { of_server: "mds1", state: "standby" }),
];
const MAMS = takeoverScript(vocabularyOf("mams"));

const play = (script: Script, story: readonly LabEvent[]) =>
  story.reduce((guide, each) => script.received(guide, each, SCENE), START);

describe("the guide of a takeover", () => {
  it("goes on with the cluster's events only", () => {
    expect(play(MAMS, STORY)).toEqual({ reached: 5, reported: 5, old: "mds1", next: "mds2", epoch: 2 });
  });

  it("does not say that a server answers which waits for others", () => {
    expect(MAMS.words(START, SCENE)).toContain("mds1 is the active: it answers every call");
    expect(MAMS.words(START, { ...SCENE, served: false })).toContain("No server answers now");
  });

  it("waits for the active to be harmed, not for anybody", () => {
    const other = event("FaultInjected", { verb: "crash", targets: ["mds3"], fault: 1 });
    expect(MAMS.received(START, other, SCENE)).toBe(START);
    expect(MAMS.received(START, STORY[2] as LabEvent, SCENE)).toBe(START);
  });

  it("stays at what is being read after Back", () => {
    const back = { ...play(MAMS, STORY.slice(0, 3)), reported: 1 };
    expect(MAMS.received(back, STORY[3] as LabEvent, SCENE)).toMatchObject({ reached: 4, reported: 1 });
  });

  it("passes over a step that the family does not know", () => {
    const standby = event("Placed", { of_server: "mds1", state: "standby" });
    expect(play(takeoverScript(vocabularyOf("qjm")), [...STORY.slice(0, 3), standby]).reached).toBe(5);
  });

  it("speaks as the family does", () => {
    expect(MAMS.words(START, SCENE)).toMatch(/^mds1 is the active: it answers every call\./);
    expect(MAMS.words(START, { ...SCENE, group: "g1" })).toMatch(
      /^mds1 is the active of g1: it answers every call there\./,
    );
    const paxos = takeoverScript(vocabularyOf("packed-paxos"));
    expect(paxos.words(START, SCENE)).toMatch(/^mds1 is the primary: it answers every write\./);
    expect(paxos.words({ ...START, reported: 3, next: "mds2", epoch: 2 }, SCENE)).toMatch(
      /in ballot 2\. Its slot/,
    );
  });
});

describe("the guide of a view", () => {
  const view = (of_number: number, ...members: string[]) =>
    event("Configured", { group: "g1", of_number, members });

  it("waits for the views without and with the one that was harmed", () => {
    const joining = event("Placed", { of_server: "mds1", state: "joining" });
    const story = [CRASH, view(2, "mds2", "mds3"), joining, view(3, "mds1", "mds2", "mds3")];
    expect(play(VIEW_SCRIPT, story)).toMatchObject({ reached: 4, reported: 4, old: "mds1", epoch: 3 });
    expect(play(VIEW_SCRIPT, [CRASH, view(2, "mds1", "mds2")]).reached).toBe(1);
  });
});

it("has words for every step", () => {
  for (const script of [MAMS, VIEW_SCRIPT])
    for (let reported = 0; reported <= script.last; reported += 1)
      expect(script.words({ ...START, reported, old: "mds1" }, SCENE)).toMatch(/\w/);
});
