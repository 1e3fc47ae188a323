import { describe, expect, it } from "vitest";
import type { LabEvent } from "../api/types";
import { vocabularyOf } from "../families/vocabulary";
import { told } from "./words";

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
