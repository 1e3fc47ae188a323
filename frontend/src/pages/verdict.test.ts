import { expect, it } from "vitest";
import type { InvariantStatus } from "../api/schema";
import { verdict } from "./verdict";

const status = (state: InvariantStatus["state"], checked: number, explanation = ""): InvariantStatus => ({
  invariant: "linearisable",
  meaning: "",
  state,
  checked,
  counts: "answers",
  explanation,
  evidence: [],
});

it("says of a grey invariant why it is grey, and how far it was checked before", () => {
  expect(verdict(status("grey", 0, "nothing has been checked yet"))).toBe("Nothing has been checked yet.");
  expect(verdict(status("grey", 0))).toBe("Nothing has been checked yet.");
  expect(verdict(status("grey", 1200, "not checked since then"))).toBe(
    "Not checked since then. Until then it held: 1,200 answers.",
  );
  expect(verdict(status("green", 7))).toBe("Held so far: 7 answers.");
});
