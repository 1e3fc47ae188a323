import { describe, expect, it } from "vitest";
import { glossaryOf } from "./glossary";
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
