import { describe, expect, it } from "vitest";
import { isOpen } from "./pages";

describe("pages", () => {
  it("of the instructor are not offered to students", () => {
    for (const page of ["class", "explore", "scenarios", "compare"] as const) {
      expect(isOpen(page, "", [])).toBe(true);
      expect(isOpen(page, "Ada", [])).toBe(false);
    }
    expect(isOpen("labs", "Ada", [])).toBe(true);
  });

  it("that the family lacks are offered to nobody", () => {
    expect(isOpen("checkpoints", "", ["checkpoints"])).toBe(false);
    expect(isOpen("checkpoints", "Ada", ["checkpoints"])).toBe(false);
  });
});
