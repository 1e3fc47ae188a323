import { describe, expect, it } from "vitest";
import { labels, proposal, searchOf, wishOf, withFamily } from "./wish";

describe("the wish in the URL", () => {
  it("comes back as it was written", () => {
    const wish = {
      scenario: "faults/crash-the-active",
      seed: 7,
      changes: [{ standbys: 1 }, { protocol: "mams", placement: "ddg", standbys: 3 }],
    };
    expect(wishOf(searchOf(wish))).toEqual(wish);
    expect(searchOf(wish)).toBe(
      "?scenario=faults/crash-the-active&seed=7&with=standbys:1&with=protocol:mams,placement:ddg,standbys:3",
    );
  });

  it("is none without a scenario, and keeps to what can be wished", () => {
    expect(wishOf("?seed=3")).toBeNull();
    const wish = wishOf("?scenario=a&seed=x&with=standbys:none,colour:red&with=groups:2&with=&with=&with=");
    expect(wish).toEqual({ scenario: "a", seed: 1, changes: [{}, { groups: 2 }, {}, {}] });
  });
});

describe("holes in the URL", () => {
  it("come back, and none is told too", () => {
    const wish = {
      scenario: "a",
      seed: 1,
      changes: [{ holes: [] }, { holes: ["late_watch", "no_fencing"] }],
    };
    expect(searchOf(wish)).toBe("?scenario=a&seed=1&with=holes:none&with=holes:late_watch.no_fencing");
    expect(wishOf(searchOf(wish))).toEqual(wish);
  });
});

describe("the variant in the URL", () => {
  it("comes back", () => {
    const wish = { scenario: "a", seed: 1, changes: [{ variant: "paper" }, {}] };
    expect(searchOf(wish)).toBe("?scenario=a&seed=1&with=variant:paper&with=");
    expect(wishOf(searchOf(wish))).toEqual(wish);
  });
});

describe("labels", () => {
  it("say what differs, and nothing else", () => {
    const own = { protocol: "mams", standbys: 3, groups: 1, placement: "hash" };
    expect(labels([{ standbys: 1 }, {}], own)).toEqual(["1 standby", "3 standbys"]);
    expect(labels([{ placement: "ddg", groups: 2 }, { groups: 2 }], own)).toEqual([
      "placement ddg",
      "placement hash",
    ]);
    expect(labels([{}, {}], own)).toEqual(["mams", "mams"]);
    const open = { ...own, holes: ["late_watch"] };
    expect(labels([{}, { holes: [] }], open)).toEqual(["late_watch open", "safe"]);
    expect(labels([{}, { holes: [] }], own)).toEqual(["mams", "mams"]);
    expect(labels([{ holes: [] }, { holes: [] }], { ...own, holes: [] })).toEqual(["mams", "mams"]);
    expect(labels([{ variant: "paper" }, { holes: ["late_watch"] }, {}], own)).toEqual([
      "as the paper has it",
      "late_watch open",
      "safe",
    ]);
    const paper = { ...own, variant: "paper" };
    expect(labels([{}, { holes: [] }], paper)).toEqual(["as the paper has it", "safe"]);
  });
});

describe("what is proposed", () => {
  it("begins with the family that runs, as large as it runs", () => {
    const changes = (protocol: string, standbys: number): unknown => proposal(protocol, standbys).changes;
    expect(changes("symmetric", 2)).toEqual([
      { protocol: "symmetric", standbys: 2 },
      { protocol: "mams", standbys: 2 },
    ]);
    expect(changes("single", 0)).toEqual([
      { protocol: "single", standbys: 0 },
      { protocol: "mams", standbys: 1 },
    ]);
  });

  it("is another number of standbys where mams runs", () => {
    expect(proposal("mams", 3).changes.map(({ standbys }) => standbys)).toEqual([3, 1]);
    expect(proposal("mams", 1).changes.map(({ standbys }) => standbys)).toEqual([1, 3]);
  });
});

describe("another family in a configuration", () => {
  it("has no more groups and standbys than it runs", () => {
    const says = "";
    const single = { name: "single", says, groups_max: 8, standbys_max: 0, holes: ["late_watch"] };
    const qjm = { name: "qjm", says, groups_max: 1, standbys_max: 15, holes: [] };
    expect(withFamily({}, { groups: 2, standbys: 3 }, single)).toEqual({ protocol: "single", standbys: 0 });
    expect(withFamily({ groups: 2 }, { standbys: 3 }, qjm)).toEqual({ protocol: "qjm", groups: 1 });
    expect(withFamily({}, { holes: ["late_watch"] }, qjm)).toEqual({ protocol: "qjm", holes: [] });
    expect(withFamily({}, { holes: ["late_watch"] }, single)).toEqual({ protocol: "single" });
    expect(withFamily({ standbys: 2 }, { groups: 1 }, qjm)).toEqual({ protocol: "qjm", standbys: 2 });
  });
});
