import { describe, expect, it } from "vitest";
import type { Lane, Picture } from "../../api/schema";
import { vocabularyOf } from "../../families/vocabulary";
import { EMPTY_PICTURE } from "../../store/store";
import { colours, isReplicated } from "./colours";

const JOURNAL = [{ linked: "servers" } as Lane];

function picture(servers: string[], groups: string[]): Picture {
  const named = (names: string[]): never => Object.fromEntries(names.map((name) => [name, {}])) as never;
  return {
    ...EMPTY_PICTURE,
    servers: named(servers),
    groups: named(groups),
  };
}

const whole = { replicated: true, groups: true, dataNodes: true };

describe("the legend of messages", () => {
  it("tells a single server's calls and views only", () => {
    const reported = colours({ replicated: false, groups: false, dataNodes: false }, vocabularyOf("single"));
    expect(reported.map(([family]) => family)).toEqual(["call", "view"]);
  });

  it("tells of several single servers what goes between them", () => {
    const reported = colours({ ...whole, replicated: false }, vocabularyOf("single"));
    expect(reported.map(([family]) => family)).toEqual(["call", "crossing", "view", "data"]);
  });

  it("has the words of the family", () => {
    const words = (protocol: string): string[] =>
      colours(whole, vocabularyOf(protocol)).map(([, label]) => label);
    expect(words("symmetric")).toEqual(expect.arrayContaining(["view change", "joining", "leases, view"]));
    expect(words("qjm")).toEqual(expect.arrayContaining(["takeover", "reading the journal"]));
    expect(words("qjm")).not.toContain("renewal, images");
  });
});

describe("a cluster is replicated", () => {
  it("when a group has more than one server, or there are journal nodes", () => {
    expect(isReplicated(picture(["mds1"], ["g1"]), [])).toBe(false);
    expect(isReplicated(picture(["mds1", "mds2"], ["g1", "g2"]), [])).toBe(false);
    expect(isReplicated(picture(["mds1", "mds2"], ["g1"]), [])).toBe(true);
    expect(isReplicated(picture(["mds1"], ["g1"]), JOURNAL)).toBe(true);
  });
});
