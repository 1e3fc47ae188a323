import { describe, expect, it } from "vitest";
import type { Replicated } from "../../api/schema";
import { costBetween, figure, frequent, kindsOf } from "./cost";

const counted = (operations: number, accepts: number, records: Record<string, number>): Replicated => ({
  messages: { Accept: accepts, Success: 1 },
  size: { Accept: 100 * accepts, Success: 10 },
  records_per_batch: records,
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
      size: 50,
      log_writes: 0.5,
      records_per_batch: 4,
    });
  });

  it("leaves out who began anew, and claims nothing without a write", () => {
    const before = { mds1: counted(50, 50, {}) };
    expect(costBetween(before, { mds1: counted(60, 5, {}) })).toBeNull();
    expect(costBetween(before, before)).toBeNull();
    expect(costBetween({}, before)).toBeNull();
  });

  it("counts kinds over all servers, and for each write of those who lived throughout", () => {
    const before = { mds1: counted(1, 2, {}), mds2: counted(9, 90, {}) };
    const after = { mds1: counted(5, 14, {}), mds2: counted(0, 3, {}) };
    expect(kindsOf(before, after)).toEqual([
      { kind: "Accept", messages: 17, size: 1700, per_write: 3 },
      { kind: "Success", messages: 2, size: 20, per_write: 0 },
    ]);
    expect(kindsOf({}, after)[0]?.per_write).toBeNull();
  });

  it("puts those behind that were not one message in a hundred", () => {
    const kind = (messages: number) => ({ kind: "", messages, size: 0, per_write: null });
    expect(frequent([kind(700), kind(296), kind(4)])).toBe(2);
    expect(frequent([kind(3), kind(3)])).toBe(2);
    expect(frequent([])).toBe(0);
  });

  it("leaves out a server that sends nothing and began anew", () => {
    const alone = (operations: number, log_writes: number): Replicated => ({
      ...counted(operations, 0, {}),
      messages: {},
      log_writes,
    });
    expect(costBetween({ mds1: alone(5, 9) }, { mds1: alone(9, 3) })).toBeNull();
    expect(costBetween({ mds1: alone(5, 3) }, { mds1: alone(9, 7) })?.log_writes).toBe(1);
  });

  it("shows as many figures as are worth reading", () => {
    expect([0.0421, 1.25, 12.34, 1234.5].map(figure)).toEqual(["0.04", "1.25", "12.3", "1,235"]);
  });
});
