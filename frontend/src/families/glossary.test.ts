import { describe, expect, it } from "vitest";
import { glossaryOf } from "./glossary";
import { shownRole } from "./roles";
import { vocabularyOf } from "./vocabulary";

function wordsOf(family: string): string[] {
  return glossaryOf(vocabularyOf(family)).map(([word]) => word);
}

describe("the glossary", () => {
  it("has the words of the family that runs, and no other's", () => {
    expect(wordsOf("mams")).toEqual(
      expect.arrayContaining(["active", "standby", "junior", "sn", "epoch", "lock"]),
    );
    expect(wordsOf("packed-paxos")).toEqual(
      expect.arrayContaining(["primary", "secondary", "slot", "ballot"]),
    );
    expect(wordsOf("packed-paxos")).not.toContain("epoch");
    expect(wordsOf("symmetric")).toEqual(expect.arrayContaining(["member", "joining", "view"]));
    expect(wordsOf("symmetric")).not.toContain("lock");
  });
});

it("a member that the view leaves out is shown as what it is", () => {
  const server = { name: "mds3", role: "member", process: "running" } as const;
  expect(shownRole(server, ["mds1", "mds3"])).toBe("member");
  expect(shownRole(server, ["mds1", "mds2"])).toBe("joining");
  expect(shownRole({ ...server, process: "stopped" }, ["mds1"])).toBe("down");
  expect(shownRole({ ...server, role: "standby" }, ["mds1"])).toBe("standby");
});
