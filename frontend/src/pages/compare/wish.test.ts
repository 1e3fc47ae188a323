import { describe, expect, it } from "vitest";
import { labels, searchOf, wishOf } from "./wish";

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

describe("labels", () => {
  it("say what differs, and nothing else", () => {
    const own = { protocol: "mams", standbys: 3, groups: 1, placement: "hash" };
    expect(labels([{ standbys: 1 }, {}], own)).toEqual(["1 standby", "3 standbys"]);
    expect(labels([{ placement: "ddg", groups: 2 }, { groups: 2 }], own)).toEqual([
      "placement ddg",
      "placement hash",
    ]);
    expect(labels([{}, {}], own)).toEqual(["mams", "mams"]);
  });
});
