import { describe, expect, it } from "vitest";
import { Ring } from "./ring";
import { milliseconds, sinceStart } from "./time";

describe("Ring", () => {
  it("holds the newest, oldest first", () => {
    const ring = new Ring<number>(3);
    for (const each of [1, 2, 3, 4, 5]) ring.push(each);
    expect(ring.length).toBe(3);
    expect(ring.from(0)).toEqual([3, 4, 5]);
    expect(ring.from(ring.firstIndex((each) => each > 3))).toEqual([4, 5]);
    expect(ring.last()).toBe(5);
    expect(ring.at(3)).toBeUndefined();
  });
});

describe("times", () => {
  it("never rounds a second up to sixty", () => {
    expect(sinceStart(59.99e9, 0)).toBe("0:59.9");
    expect(sinceStart(3_661.25e9, 0)).toBe("1:01:01.2");
    expect(sinceStart(1, 5)).toBe("0:00.0");
  });

  it("tells durations with a unit", () => {
    expect([0.4231, 73.04, 840.4, 5123, 12_000].map(milliseconds)).toEqual([
      "0.42 ms",
      "73.0 ms",
      "840 ms",
      "5.12 s",
      "12.0 s",
    ]);
  });
});
