import { describe, expect, it } from "vitest";
import type { LabEvent } from "../api/schema";
import { vocabularyOf } from "../families/vocabulary";
import { row } from "../testing/verbs";
import { type Facts, NOTHING, phasesOf, received, receivedOfMembers, type Scene, sinceFault } from "./facts";
import { MEMBER_STEPS, takeoverSteps } from "./script";

let seq = 0;
const event = (kind: string, at_ms: number, fields: object, server = "mds2"): LabEvent => {
  seq += 1;
  return { kind, server, seq, at_ns: at_ms * 1e6, says: kind, ...fields } as LabEvent;
};
const SCENE: Scene = {
  leader: "mds1",
  served: true,
  servers: ["mds1", "mds2", "mds3"],
  session_timeout_ms: 5000,
  grant_ms: null,
  group: "g1",
  several: false,
  verbs: [row("crash", { unseats: true })],
};
const step = (name: string, at_ms: number, server = "mds2"): LabEvent =>
  event("StepTaken", at_ms, { procedure: "upgrade", step: name, detail: "", epoch: 2 }, server);
const drawn = (server: string, round: number, winner: string): LabEvent =>
  event("Drawn", 5010, { group: "g1", round, draws: [["mds2", 1, 7, 9]], winner, by: "number" }, server);

const CRASH = event("FaultInjected", 100, { verb: "crash", targets: ["mds1"], fault: 1 });
const TAKEOVER = [
  CRASH,
  event("SessionEnded", 5000, { of_server: "mds1", reason: "expired" }),
  event("LockHeld", 5001, { group: "g1", owner: "" }),
  drawn("mds3", 4, "mds2"),
  drawn("mds2", 4, "mds2"),
  event("LockHeld", 5020, { group: "g1", owner: "mds2" }),
  step("0", 5021),
  step("1", 5022, "mds3"),
  step("3b", 5030),
  event("Serving", 5050, { group: "g1", epoch: 2, sn: 7 }),
];
const BACK = [
  event("Placed", 9000, { of_server: "mds1", state: "junior" }),
  event("Placed", 9500, { of_server: "mds1", state: "standby" }),
];
const play = (events: readonly LabEvent[], from: Facts = NOTHING): Facts =>
  events.reduce((facts, each) => received(facts, each, SCENE, "standby"), from);
const words = vocabularyOf("mams");
const STEPS = takeoverSteps(words);
const named = (id: string) => STEPS.find((each) => each.id === id) as (typeof STEPS)[number];

describe("what the tour learns of a failover", () => {
  it("is in the cluster's events only", () => {
    const facts = play(TAKEOVER);
    expect(facts.old).toBe("mds1");
    expect(facts.drawn?.server).toBe("mds2");
    expect(facts.serving?.epoch).toBe(2);
    expect(sinceFault(facts, facts.ended)).toBe(4900);
    expect(sinceFault(NOTHING, CRASH)).toBeNull();
  });

  it("begins with a fault at the active, not at another server", () => {
    const other = event("FaultInjected", 100, { verb: "crash", targets: ["mds3"], fault: 1 });
    expect(play([other])).toBe(NOTHING);
    expect(play(TAKEOVER.slice(1))).toBe(NOTHING);
  });

  it("has the steps of the server that serves, in their order", () => {
    const titles = phasesOf(play(TAKEOVER)).map(({ title }) => title);
    expect(titles).toEqual([
      "Fault at mds1",
      "Session of mds1 ends",
      "The lock is free",
      "The draw",
      "A new holder of the lock",
      "0. Reads the last epoch",
      "3b. Collects the journals",
      "mds2 answers",
    ]);
  });

  it("has what removed the lock before the session ended", () => {
    const removed = (evidence: string) =>
      event("LockRemoved", 550, { group: "g1", holder: "mds1", evidence, agreed: ["mds2", "mds3"] });
    const leased = { ...SCENE, grant_ms: 400 };
    for (const [evidence, why, said] of [
      ["death", "saw it end", "need not have waited"],
      ["silence", "Most of them agreed", "its last lease had run out"],
    ] as const) {
      const facts = play([CRASH, removed(evidence), ...TAKEOVER.slice(2)]);
      expect(phasesOf(facts)[1]).toMatchObject({ title: "The lock of mds1 is removed" });
      expect(phasesOf(facts)[1]?.why).toContain(why);
      expect(named("wait").text(facts, leased)).toContain(said);
      expect(named("wait").text(facts, leased)).toContain("Here it took 450 ms");
    }
    expect(play([CRASH, { ...removed("death"), group: "g2" } as LabEvent]).removed).toBeNull();
  });

  it("follows the old active until it is in step", () => {
    const taken = play(TAKEOVER);
    expect(play(BACK.slice(0, 1), taken)).toMatchObject({ behind: true, inStep: false });
    expect(play(BACK, taken)).toMatchObject({ behind: true, inStep: true });
  });

  it("with members waits for the views without and with the one that was harmed", () => {
    const view = (...members: string[]): LabEvent =>
      event("Configured", 1, { group: "g1", of_number: 2, members });
    const joining = event("Placed", 2, { of_server: "mds1", state: "joining" });
    const all = [CRASH, view("mds2", "mds3"), joining, view("mds1", "mds2", "mds3")];
    const seen = all.map((_, end) =>
      all.slice(0, end + 1).reduce((facts, each) => receivedOfMembers(facts, each, SCENE), NOTHING),
    );
    expect(seen.map(({ freed }) => freed !== null)).toEqual([false, true, true, true]);
    expect(seen.map(({ inStep }) => inStep)).toEqual([false, false, false, true]);
  });
});

describe("the steps", () => {
  it("stay until the cluster has done its part", () => {
    const taken = play(TAKEOVER);
    const open = (facts: Facts) => STEPS.filter(({ done }) => !done(facts)).map(({ id }) => id);
    expect(open(NOTHING)).toEqual(["break", "repair"]);
    expect(open(play(TAKEOVER.slice(0, 6)))).toEqual(["break", "repair"]);
    expect(open(taken)).toEqual(["repair"]);
    expect(open(play(BACK, taken))).toEqual([]);
  });

  it("say why the others must wait, and what decides the draw", () => {
    const waiting = named("break").text(play(TAKEOVER.slice(0, 1)), SCENE);
    expect(waiting).toContain("mds1 keeps its lock until its session ends");
    const leased = named("break").text(play(TAKEOVER.slice(0, 1)), { ...SCENE, grant_ms: 400 });
    expect(leased).toContain("a lease that the others grant, 0.4 s at a time");
    const facts = play(TAKEOVER);
    expect(named("draw").text(facts, SCENE)).toContain("the number decides: mds2 drew the largest");
    const byJournal = { ...facts, drawn: { ...(facts.drawn as NonNullable<Facts["drawn"]>), by: "journal" } };
    expect(named("draw").text(byJournal, SCENE)).toContain("The journal decides");
  });

  it("do not say that a server answers which waits for others", () => {
    expect(named("meet").text(NOTHING, SCENE)).toContain("mds1 is the active: it answers every call");
    expect(named("meet").text(NOTHING, { ...SCENE, served: false })).toContain("No server answers now");
    expect(named("meet").text(NOTHING, { ...SCENE, several: true })).toContain("the active of g1");
    const paxos = takeoverSteps(vocabularyOf("packed-paxos"));
    expect(paxos[0]?.text(NOTHING, SCENE)).toContain("mds1 is the primary: it answers every write");
  });

  it("have words for every state", () => {
    for (const each of [...STEPS, ...MEMBER_STEPS])
      for (let end = 0; end <= TAKEOVER.length; end += 1)
        for (const grant_ms of [null, 400])
          expect(each.text(play(TAKEOVER.slice(0, end)), { ...SCENE, grant_ms })).toMatch(/\w/);
  });
});
