import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { proposals, type Schema } from "./completion";
import { placeAt } from "./cursor";

const schema = JSON.parse(readFileSync("../docs/scenario.schema.json", "utf8")) as Schema;

function labels(before: string): string[] {
  return proposals(schema, before).found.map(({ label }) => label);
}

describe("the place of a cursor", () => {
  it("is found in blocks and in brackets", () => {
    expect(placeAt("na")).toMatchObject({ path: [], key: null, typed: "na" });
    expect(placeAt("cluster:\n  sta")).toMatchObject({ path: ["cluster"], key: null, typed: "sta" });
    expect(placeAt("cluster: {standbys: 3, var")).toMatchObject({ path: ["cluster"], key: null });
    expect(placeAt("steps:\n  - {at: 1s, fault: cr")).toMatchObject({
      path: ["steps", "[]"],
      key: "fault",
      typed: "cr",
    });
    expect(placeAt("steps:\n  - at: 1s\n    fau")).toMatchObject({ path: ["steps", "[]"], key: null });
    expect(placeAt("steps:\n- {expect: {ro")).toMatchObject({ path: ["steps", "[]", "expect"], key: null });
  });

  it("leaves what has ended", () => {
    expect(placeAt("cluster: {standbys: 3}\nwork")).toMatchObject({ path: [], key: null });
    expect(placeAt("steps:\n  - {at: 1s}\n  - {at: 2s}\nend: {a")).toMatchObject({
      path: ["end"],
      key: null,
    });
    expect(placeAt("cluster:\n  standbys: 3\nend:\n  ")).toMatchObject({ path: ["end"], key: null });
    expect(placeAt('name: "a: {b"\ncl')).toMatchObject({ path: [], key: null, typed: "cl" });
  });
});

describe("completion", () => {
  it("proposes keys where a key is", () => {
    expect(labels("")).toEqual(expect.arrayContaining(["name", "teaches", "cluster", "steps", "expect"]));
    expect(labels("workload: {")).toEqual(expect.arrayContaining(["clients", "rate", "mix"]));
    expect(labels("steps:\n  - {expect: {")).toEqual(expect.arrayContaining(["roles", "serving"]));
    expect(labels("workload: {mix: {")).toContain("move_directory");
  });

  it("proposes verbs, families, servers and choices where a value is", () => {
    expect(labels("steps:\n  - {fault: ")).toEqual(expect.arrayContaining(["crash", "power_loss"]));
    expect(labels("cluster: {protocol: ")).toContain("packed-paxos");
    expect(labels("cluster:\n  placement: ")).toEqual(expect.arrayContaining(["hash", "ddg"]));
    expect(labels("steps:\n  - {fault: crash, target: ")).toContain("active of g1");
    expect(labels("steps:\n  - {fault: cut, target: [mds1, ")).toContain("mds2");
    expect(proposals(schema, "steps:\n  - {fault: crash, target: active of g").typed).toBe("active of g");
    expect(labels("steps:\n  - {expect: {serving: ")).toEqual(["true", "false"]);
  });

  it("proposes the options of the step's own fault", () => {
    const options = labels("steps:\n  - {fault: crash}\n  - {fault: skew_clock, options: {");
    expect(options).toEqual(["ms"]);
  });

  it("proposes nothing where anything may be written", () => {
    expect(labels("name: ")).toEqual([]);
  });
});
