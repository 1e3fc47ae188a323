import { describe, expect, it } from "vitest";
import { forceWords } from "./words";

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

  it("names the servers that may know more", () => {
    expect(forceWords("mds1", { servers, groups: { g1: { commit_sn: 7 } } })).toContain(
      "Later groups that only mds2 may hold are lost",
    );
  });
});
