import { describe, expect, it } from "vitest";
import type { LabEvent } from "../api/types";
import { vocabularyOf } from "../families/vocabulary";
import { forceWords, told } from "./words";

function renewing(phase: string): string {
  const event = { kind: "Renewing", server: "mds2", phase, sn: 40, goal_sn: 60 } as unknown as LabEvent;
  return told(event, vocabularyOf("mams"));
}

describe("a junior's renewing in words", () => {
  it("tells where it reads and how that ended", () => {
    expect(renewing("journal")).toBe("mds2 is renewed from the journal: sn 40 of 60");
    expect(renewing("done")).toBe("mds2 has read what it lacked, up to sn 40");
    expect(renewing("failed")).toBe("mds2 could not read on behind sn 40");
  });
});

describe("what forcing a server costs", () => {
  const servers = {
    mds1: { group: "g1", sn: 7 },
    mds2: { group: "g1", sn: 5 },
    mds3: { group: "g2", sn: 90 },
  };

  it("names the groups that are known elsewhere", () => {
    expect(forceWords("mds2", { servers, groups: { g1: { commit_sn: 9 } } })).toContain(
      "sn 6 to 9 of g1 may be lost",
    );
  });

  it("names who may know more", () => {
    expect(forceWords("mds1", { servers, groups: { g1: { commit_sn: 7 } } })).toContain(
      "What only mds2 may hold after that is lost",
    );
  });
});
