import { describe, expect, it } from "vitest";
import type { LabEvent, Picture } from "../api/types";
import { row } from "../testing/verbs";
import { EMPTY_PICTURE, reduce as reduceWith } from "./reduce";

const VERBS = [
  row("crash", { leaves: "stopped" }),
  row("pause", { leaves: "paused" }),
  row("new_disk", { leaves: "stopped", empties: true }),
  row("take_lock", { lasts: false }),
];
const reduce = (old: Picture, events: LabEvent[]): Picture => reduceWith(old, events, VERBS);

let seq = 0;

function told(kind: string, fields: object, server = "mds1", at_ns = 0): LabEvent {
  seq += 1;
  return { seq, server, boot: 1, number: seq, at_ns: at_ns || seq, cause: 0, kind, ...fields } as LabEvent;
}

function cluster(): Picture {
  return reduce(EMPTY_PICTURE, [
    told("Configured", { group: "g1", of_number: 1, members: ["mds1", "mds2"] }, "coordination"),
    told("Placed", { group: "g1", of_server: "mds1", state: "active", epoch: 1, sn: 0 }, "coordination"),
    told("Placed", { group: "g1", of_server: "mds2", state: "standby", epoch: 1, sn: 0 }, "coordination"),
    told("Started", { pid: 11, address: "127.0.0.1:1" }, "mds1"),
    told("Started", { pid: 12, address: "127.0.0.1:2" }, "mds2"),
  ]);
}

describe("reduce", () => {
  it("takes roles from the global view, not from what a server believes", () => {
    const picture = reduce(cluster(), [
      told("RoleChanged", { group: "g1", role: "active", epoch: 2, sn: 3, reason: "" }, "mds2"),
    ]);
    expect(picture.servers.mds2?.role).toBe("standby");
    expect(picture.servers.mds2?.believes).toBe("active");
    const left = reduce(picture, [
      told("Placed", { group: "g1", of_server: "mds1", state: "", epoch: 1, sn: 3 }, "coordination"),
    ]);
    expect(left.servers.mds1?.role).toBe("down");
  });

  it("counts lag from what is committed and not durable", () => {
    const committed = { group: "g1", sn: 5, epoch: 1, holders: ["mds1"] };
    const picture = reduce(cluster(), [
      told("Durable", { sn: 5, epoch: 1 }, "mds1"),
      told("Durable", { sn: 3, epoch: 1 }, "mds2"),
      told("Committed", committed, "mds1"),
    ]);
    expect(picture.servers.mds1?.lag).toBe(0);
    expect(picture.servers.mds2?.lag).toBe(2);
    expect(reduce(picture, [told("Durable", { sn: 5, epoch: 1 }, "mds2")]).servers.mds2?.lag).toBe(0);
  });

  it("counts no lag of another group's servers", () => {
    const other = { group: "g2", of_server: "mds5", state: "active", epoch: 1, sn: 0 };
    const picture = reduce(cluster(), [
      told("Placed", other, "coordination"),
      told("Committed", { group: "g1", sn: 5, epoch: 1, holders: [] }, "mds1"),
    ]);
    expect(picture.servers.mds5?.lag).toBe(0);
    expect(picture.servers.mds2?.lag).toBe(5);
  });

  it("stops a crashed server and gives its fault back when it starts again", () => {
    const crashed = reduce(cluster(), [
      told("FaultInjected", { fault: 7, verb: "crash", targets: ["mds1"], options: {} }, "control"),
    ]);
    expect(crashed.servers.mds1).toMatchObject({ process: "stopped", pid: 0, faults: [7] });
    expect(crashed.faults).toHaveLength(1);
    const again = reduce(crashed, [
      told("Started", { pid: 21, address: "127.0.0.1:1" }, "mds1"),
      told("FaultEnded", { fault: 7, verb: "crash", targets: ["mds1"] }, "control"),
    ]);
    expect(again.servers.mds1).toMatchObject({ process: "running", pid: 21, faults: [] });
    expect(again.faults).toEqual([]);
  });

  it("lets a paused server run only when its pause is over", () => {
    const pause = { fault: 8, verb: "pause", targets: ["mds2"] };
    const paused = reduce(cluster(), [told("FaultInjected", { ...pause, options: {} }, "control")]);
    expect(paused.servers.mds2?.process).toBe("paused");
    expect(reduce(paused, [told("FaultEnded", pause, "control")]).servers.mds2?.process).toBe("running");
  });

  it("knows data nodes apart from servers", () => {
    const node = { process: "stopped", pid: 0, address: "", blocks: 0, octets: 0, damaged: 0 } as const;
    const before = { ...cluster(), data_nodes: { dn1: { name: "dn1", ...node, faults: [], warning: "" } } };
    const running = reduce(before, [
      told("Started", { pid: 9, address: "127.0.0.1:9" }, "dn1"),
      told("NodeHolds", { blocks: 3, octets: 900, damaged: 1 }, "dn1"),
      told("NodeHolds", { blocks: 7, octets: 7, damaged: 7 }, "stranger"),
    ]);
    expect(running.data_nodes.dn1).toMatchObject({
      process: "running",
      pid: 9,
      blocks: 3,
      octets: 900,
      damaged: 1,
    });
    expect(Object.keys(running.servers)).toEqual(["mds1", "mds2"]);
    const pause = { fault: 4, verb: "pause", targets: ["dn1"] };
    const paused = reduce(running, [told("FaultInjected", { ...pause, options: {} }, "control")]);
    expect(paused.data_nodes.dn1).toMatchObject({ process: "paused", faults: [4] });
    const again = reduce(paused, [told("FaultEnded", pause, "control")]);
    expect(again.data_nodes.dn1).toMatchObject({ process: "running", faults: [] });
    const gone = reduce(again, [
      told("ProcessEnded", { of_server: "dn1", reason: "out of memory" }, "control"),
    ]);
    expect(gone.data_nodes.dn1).toMatchObject({ process: "stopped", pid: 0, warning: "out of memory" });
    const found = reduce(gone, [told("ProcessFound", { of_server: "dn1", pid: 9, role: "none" }, "control")]);
    expect(found.data_nodes.dn1).toMatchObject({ process: "running", pid: 9, warning: "", blocks: 3 });
    expect(before.data_nodes.dn1.blocks).toBe(0);
    const newDisk = { fault: 5, verb: "new_disk", targets: ["dn1"], options: {} };
    const empty = reduce(found, [told("FaultInjected", newDisk, "control")]);
    expect(empty.data_nodes.dn1).toMatchObject({ process: "stopped", blocks: 0, octets: 0, damaged: 0 });
  });

  it("does not keep faults that are over at once", () => {
    const lock = { fault: 9, verb: "take_lock", targets: ["g1", "mds1"], options: {} };
    const picture = reduce(cluster(), [told("FaultInjected", lock, "control")]);
    expect(picture.faults).toEqual([]);
    expect(picture.servers.mds1?.faults).toEqual([]);
  });

  it("cuts a journal back, state included", () => {
    const picture = reduce(cluster(), [
      told("Durable", { sn: 9, epoch: 1 }, "mds2"),
      told("Applied", { sn: 9, epoch: 1, digest: "0" }, "mds2"),
      told("Cut", { sn: 4, reason: "another epoch" }, "mds2"),
    ]);
    expect(picture.servers.mds2).toMatchObject({ sn: 4, applied_sn: 4 });
  });

  it("keeps the first explanation of a broken invariant", () => {
    const failed = (explanation: string) =>
      told("CheckFailed", { invariant: "one active", explanation, evidence: [] }, "checks");
    expect(reduce(cluster(), [failed("first"), failed("second")]).lamps["one active"]).toBe("first");
  });

  it("passes over what it has seen, and never changes the old picture", () => {
    const before = cluster();
    const frozen = JSON.stringify(before);
    const event = told("Durable", { sn: 1, epoch: 1 }, "mds1");
    const after = reduce(before, [told("LockHeld", { group: "g1", owner: "mds1" }, "coordination"), event]);
    expect(JSON.stringify(before)).toBe(frozen);
    expect(after.servers.mds2).toBe(before.servers.mds2);
    expect(reduce(after, [event])).toBe(after);
  });

  it("gives the same picture event by event and all at once", () => {
    const start = cluster();
    const run: LabEvent[] = [];
    for (let sn = 1; sn <= 200; sn += 1) {
      for (const server of ["mds1", "mds2"]) run.push(told("Durable", { sn, epoch: 1 }, server));
      run.push(told("Committed", { group: "g1", sn, epoch: 1, holders: [] }, "mds1"));
    }
    expect(run.reduce((picture, event) => reduce(picture, [event]), start)).toEqual(reduce(start, run));
  });

  it("is made from nothing when a picture has no such server", () => {
    const picture = reduce(EMPTY_PICTURE, [told("Durable", { sn: 2, epoch: 1 }, "mds9")]);
    expect(picture.servers.mds9).toMatchObject({ sn: 2, role: "down" });
  });
});
