import { expect, it } from "vitest";
import type { Lamp } from "../api/types";
import { verdict } from "./verdict";

const lamp = (state: Lamp["state"], checked: number, explanation = ""): Lamp => ({
  invariant: "linearisable",
  meaning: "",
  state,
  checked,
  explanation,
});

it("says of a grey lamp why it is grey, and how far it was checked before", () => {
  expect(verdict(lamp("grey", 0, "nothing has been checked yet"))).toBe("Nothing has been checked yet.");
  expect(verdict(lamp("grey", 0))).toBe("Nothing has been checked yet.");
  expect(verdict(lamp("grey", 1200, "not checked since then"))).toBe(
    "Not checked since then. Until then it held: 1,200 checks.",
  );
  expect(verdict(lamp("green", 7))).toBe("Held so far: 7 checks.");
});
