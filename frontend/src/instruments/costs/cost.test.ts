import { describe, expect, it } from "vitest";
import type { Replicated } from "../../api/counts";
import { costBetween, figure, kindsOf } from "./cost";

const counted = (operations: number, accepts: number, records: Record<string, number>): Replicated => ({
  messages: { Accept: accepts, Success: 1 },
  octets: { Accept: 100 * accepts, Success: 10 },
  records_per_message: records,
  log_writes: accepts,
  operations,
});

describe("what a write costs", () => {
  it("is what was spent in the stretch, by the writes in it", () => {
    const before = { mds1: counted(10, 10, { 1: 10 }), mds2: counted(0, 4, {}) };
    const after = { mds1: counted(30, 15, { 0: 3, 1: 10, 4: 5 }), mds2: counted(0, 9, {}) };
    expect(costBetween(before, after)).toEqual({
      writes: 20,
      messages: 0.5,
      octets: 50,
      log_writes: 0.5,
      records_per_message: 4,
    });
  });

  it("leaves out who began anew, and claims nothing without a write", () => {
    const before = { mds1: counted(50, 50, {}) };
    expect(costBetween(before, { mds1: counted(60, 5, {}) })).toBeNull();
    expect(costBetween(before, before)).toBeNull();
    expect(costBetween({}, before)).toBeNull();
  });

  it("counts kinds over all servers", () => {
    const tally = { mds1: counted(1, 2, {}), mds2: counted(1, 3, {}) };
    expect(kindsOf(tally)).toEqual([
      { kind: "Accept", messages: 5, octets: 500 },
      { kind: "Success", messages: 2, octets: 20 },
    ]);
  });

  it("shows as many figures as are worth reading", () => {
    expect([0.0421, 1.25, 12.34, 1234.5].map(figure)).toEqual(["0.04", "1.25", "12.3", "1,235"]);
  });
});
