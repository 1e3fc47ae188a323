import { describe, expect, it } from "vitest";
import { useLab } from "../store/store";
import { row } from "../testing/verbs";
import { commandsOf, matching } from "./commands";

const server = (name: string, process: string) => ({ name, process, group: "g1" });
const state = {
  ...useLab.getState(),
  verbs: [
    row("crash", { label: "Crash", key: "C", states: ["running"] }),
    row("restart", { label: "Restart", key: "R", states: ["stopped"] }),
    row("heal_all", { label: "Heal all", key: "A", targets: ["cluster"] }),
    row("delay", { label: "Delay", targets: ["link"] }),
  ],
  live: {
    ...useLab.getState().live,
    servers: { mds1: server("mds1", "running"), mds2: server("mds2", "stopped") },
  },
  liveRun: 1,
  connection: { state: "live", since_ms: 0, retry_at_ms: 0 },
} as unknown as ReturnType<typeof useLab.getState>;
const titles = (text = "", lacks: string[] = [], of = state): string[] =>
  matching(commandsOf(of, lacks), text).map(({ title }) => title);

describe("the palette", () => {
  it("has the faults that are possible now, at each target", () => {
    expect(titles("mds")).toEqual(["Crash: mds1", "Restart: mds2"]);
    expect(titles("heal")).toEqual(["Heal all"]);
  });

  it("offers no fault at a past run or without a connection", () => {
    expect(titles("mds", [], { ...state, run: 7 })).toEqual([]);
    const lost = { ...state, connection: { ...state.connection, state: "lost" as const } };
    expect(titles("mds", [], lost)).toEqual([]);
  });

  it("goes to every other page that the family has", () => {
    expect(titles("go to")).toEqual([
      "Go to Namespace",
      "Go to Storage pool",
      "Go to Checkpoints",
      "Go to Coordination",
      "Go to Scenarios",
      "Go to Compare",
      "Go to Explore",
      "Go to Labs",
      "Go to Papers",
      "Go to Class",
    ]);
    expect(titles("go to", ["checkpoints"])).not.toContain("Go to Checkpoints");
  });

  it("runs a simulated cluster until something comes, and waits for real servers", () => {
    expect(titles("until")).toEqual(["Wait until…"]);
    const virtual = { now_ns: 0 } as typeof state.virtual;
    expect(titles("until", [], { ...state, virtual })).toEqual(["Run until…"]);
    const lost = { ...state, connection: { ...state.connection, state: "lost" as const } };
    expect(titles("until", [], lost)).toEqual([]);
  });

  it("offers an instructor at a student's cluster a fork, and nothing that changes it", () => {
    const looking = {
      ...state,
      virtual: { now_ns: 0 } as typeof state.virtual,
      looksAt: { id: "1", name: "Ada" },
    };
    expect([titles("mds", [], looking), titles("heal", [], looking), titles("until", [], looking)]).toEqual([
      [],
      [],
      [],
    ]);
    expect([titles("tour", [], looking), titles("fork", [], looking)]).toEqual([[], ["Fork this cluster"]]);
    expect([titles("tour"), titles("fork")]).toEqual([["Take the tour"], []]);
  });

  it("finds words in any order", () => {
    expect(titles("mds1 crash")).toEqual(["Crash: mds1"]);
    expect(titles("nothing like this")).toEqual([]);
  });
});
