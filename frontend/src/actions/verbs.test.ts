import { describe, expect, it } from "vitest";
import { option, row } from "../testing/verbs";
import { defaultsOf, doneWords, isUndone, phrase } from "./verbs";

const CUT = row("cut", {
  label: "Cut",
  targets: ["link", "server"],
  options: [
    option({ name: "direction", type: "direction", default: "both" }),
    option({ name: "island", type: "switch", default: false, several: true, shown: false }),
  ],
  done: "Cut {way}",
  done_one: "Cut {targets} off from all others",
});
const LOSE = row("lose", {
  options: [option({ name: "share", type: "share", default: 0.2 })],
  done: "Loses {share} of the messages on {way}",
});
const SLOW = row("slow_disk", {
  options: [option({ name: "ms", type: "number", default: 100 })],
  undo: { verb: "slow_disk", options: { ms: 0 } },
  done: "Slowed {targets} by {ms} ms",
  undone: "{targets} is as fast as before",
});
const FORCE = row("force", { done: "Forced {last} to serve[ from sn {sn} on]" });
const VERBS = [CUT, LOSE, SLOW, FORCE];
const done = (name: string, targets: string[], options: Record<string, unknown> = {}): string =>
  doneWords(VERBS, name, targets, options);

describe("what was done, in the words of the table", () => {
  it("says the ends and the direction of a link", () => {
    expect(done("cut", ["mds1", "mds2"])).toBe("Cut mds1 ↔ mds2");
    expect(done("cut", ["mds1", "mds2"], { direction: "from" })).toBe("Cut mds2 → mds1");
    expect(done("cut", ["mds1"], { direction: "both" })).toBe("Cut mds1 off from all others");
    expect(done("cut", ["mds1"], { direction: "to" })).toBe("Cut what mds1 sends");
    expect(done("cut", ["mds1", "mds2", "dn1"], { island: true })).toBe(
      "Cut mds1, mds2 and dn1 off from the rest",
    );
    expect(phrase("Healed {way}", CUT, [])).toBe("Healed all links");
  });

  it("says a share in per cent", () => {
    expect(done("lose", ["mds1"], { share: 0.25 })).toBe("Loses 25% of the messages on the links of mds1");
  });

  it("knows the options that take a fault back", () => {
    expect(done("slow_disk", ["mds1"], { ms: 50 })).toBe("Slowed mds1 by 50 ms");
    expect(done("slow_disk", ["mds1"], { ms: 0 })).toBe("mds1 is as fast as before");
    expect([isUndone(SLOW, { ms: 0 }), isUndone(SLOW, defaultsOf(SLOW)), isUndone(CUT, {})]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it("leaves out what is not known", () => {
    expect(done("force", ["g1", "mds2"], { sn: 9 })).toBe("Forced mds2 to serve from sn 9 on");
    expect(done("force", ["mds2"])).toBe("Forced mds2 to serve");
  });

  it("names a verb of another family", () => {
    expect(done("take_lock", ["g1", "mds1"])).toBe("take lock: g1 and mds1");
  });
});
