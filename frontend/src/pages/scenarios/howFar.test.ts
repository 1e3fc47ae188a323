import { expect, test } from "vitest";
import { howFar } from "./howFar";

test("a run says how far it is, and by which clock", () => {
  const run = { state: "running", on: "simulated", at_s: 12.4, held: null } as const;
  expect(howFar(run)).toBe("Running, 12 s of virtual time");
  expect(howFar({ ...run, on: "processes" })).toBe("Running, 12 s");
  expect(howFar({ ...run, at_s: 0 })).toBe("The cluster starts");
  expect(howFar({ ...run, state: "done", held: true })).toBe("Over: held");
  expect(howFar({ ...run, state: "done", held: false })).toBe("Over: not held");
  expect(howFar({ ...run, state: "cancelled" })).toBe("Cancelled");
});
