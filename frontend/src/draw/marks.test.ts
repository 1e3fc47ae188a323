import { describe, expect, it } from "vitest";
import { fitted } from "./marks";

const widthOf = (text: string): number => text.length * 10;

describe("a text in little room", () => {
  it("stands whole, is cut, or is left out", () => {
    expect(fitted("⚑ monday", 80, widthOf)).toBe("⚑ monday");
    expect(fitted("⚑ monday", 79, widthOf)).toBe("⚑ mond…");
    expect(fitted("⚑ monday", 20, widthOf)).toBe("");
    expect(fitted("⚑ monday", -5, widthOf)).toBe("");
  });
});
