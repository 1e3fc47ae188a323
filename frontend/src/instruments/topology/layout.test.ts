import { describe, expect, it } from "vitest";
import type { EnsembleServer, Fault, Link, MessageLine } from "../../api/schema";
import { row } from "../../testing/verbs";
import { familyOf, isReply } from "./draw";
import { along, type Box, inside, layout, type Scene } from "./layout";
import { adriftOf, carrying, gathered, hasQuorum, linksOfFaults, stateOf } from "./rules";
import { whereWords } from "./ServerCard";

function scene(servers: number, adrift: string[] = []): Scene {
  const names = Array.from({ length: servers }, (_, index) => `mds${index + 1}`);
  return { groups: [{ name: "g1", servers: names }], clients: ["client1"], adrift: new Set(adrift) };
}

function ensembleOf(size: number, servers: number): Scene {
  return { ...scene(servers), ensemble: size };
}

function overlap(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

describe("layout", () => {
  for (const [width, rem] of [
    [1232, 16],
    [3700, 28],
    [368, 15],
    [720, 15],
  ] as const) {
    for (const servers of [1, 2, 4, 7, 16]) {
      it(`keeps ${servers} cards apart and inside ${width} pixels`, () => {
        const { cards, coordination, clients } = layout(scene(servers), width, rem);
        const boxes = [...Object.values(cards), coordination, ...Object.values(clients)];
        boxes.forEach((box, index) => {
          expect(box.x).toBeGreaterThanOrEqual(0);
          expect(box.x + box.width).toBeLessThanOrEqual(width + 0.01);
          for (const other of boxes.slice(0, index)) expect(overlap(box, other)).toBe(false);
        });
      });
    }
  }

  for (const [width, rem] of [
    [1232, 16],
    [368, 15],
    [720, 15],
  ] as const) {
    for (const size of [1, 3, 5]) {
      it(`has room for ${size} ZooKeeper servers in ${width} pixels`, () => {
        const { cards, coordination, clients } = layout(ensembleOf(size, 4), width, rem);
        const boxes = [...Object.values(cards), coordination, ...Object.values(clients)];
        boxes.forEach((box, index) => {
          expect(box.x).toBeGreaterThanOrEqual(0);
          expect(box.x + box.width).toBeLessThanOrEqual(width + 0.01);
          for (const other of boxes.slice(0, index)) expect(overlap(box, other)).toBe(false);
        });
      });
    }
  }

  for (const width of [800, 850, 950, 1100])
    it(`keeps both lines of a lane's label under its cards in ${width} pixels`, () => {
      const { cards, lanes } = layout(scene(4), width, 16);
      const lowest = Math.max(...Object.values(cards).map(({ y, height }) => y + height));
      const box = lanes[0]?.box as Box;
      expect(box.y + box.height - lowest).toBeGreaterThanOrEqual((width < 1100 ? 3.8 : 2.4) * 16);
    });

  for (const width of [1232, 368])
    for (const names of [
      ["dn1"],
      ["dn1", "dn2", "dn3"],
      Array.from({ length: 9 }, (_, index) => `dn${index + 1}`),
    ])
      it(`keeps ${names.length} data nodes apart under the servers in ${width} pixels`, () => {
        const geometry = layout(
          { ...scene(4), nodes: [{ kind: "data_node", linked: "clients", names }] },
          width,
          15,
        );
        const boxes = Object.values(geometry.nodes);
        expect(Object.keys(geometry.nodes)).toEqual(names);
        const lowest = Math.max(...Object.values(geometry.cards).map(({ y, height }) => y + height));
        boxes.forEach((box, index) => {
          expect(box.y).toBeGreaterThan(lowest);
          expect(box.y + box.height).toBeLessThanOrEqual(geometry.height);
          expect(box.x + box.width).toBeLessThanOrEqual(width + 0.01);
          for (const other of boxes.slice(0, index)) expect(overlap(box, other)).toBe(false);
          if (geometry.narrow) expect(overlap(box, geometry.island)).toBe(false);
        });
      });

  it("leads from actives and clients to data nodes, and from one of these to the next", () => {
    const groups = [{ name: "g1", servers: ["mds1", "mds2"], active: "mds2" }];
    const { ways } = layout(
      { ...scene(2), groups, nodes: [{ kind: "data_node", linked: "clients", names: ["dn1", "dn2"] }] },
      1232,
      16,
    );
    expect(ways.map(({ a, b }) => `${a}-${b}`).sort()).toEqual([
      ...["client1-dn1", "client1-dn2", "dn1-dn2", "mds2-dn1", "mds2-dn2"],
    ]);
    expect(layout(scene(2), 1232, 16)).toMatchObject({ ways: [], nodeLinks: [], nodeLanes: {} });
  });

  it("joins every pair once, and begins and ends at their boxes", () => {
    const { links, cards } = layout(scene(4), 1232, 16);
    expect(links).toHaveLength(6 + 4 + 4);
    const pair = links.find(({ a, b }) => a === "mds1" && b === "mds4");
    expect(pair && inside(pair.curve[0], cards.mds1 as Box)).toBe(true);
    expect(pair && inside(along(pair.curve, 1), cards.mds4 as Box)).toBe(true);
  });

  it("puts servers that reach nobody on the island", () => {
    const { cards, island, links } = layout(scene(4, ["mds2"]), 1232, 16);
    expect(inside(cards.mds2 as Box, island)).toBe(true);
    expect(links.some(({ a, b }) => a === "mds2" || b === "mds2")).toBe(false);
  });
});

describe("several groups", () => {
  const groups = [
    { name: "g1", servers: ["mds1", "mds2", "mds3"], active: "mds2" },
    { name: "g2", servers: ["mds4", "mds5", "mds6"], active: "mds4" },
    { name: "g3", servers: ["mds7", "mds8", "mds9"], active: "" },
  ];
  const of = (adrift: string[] = []): Scene => ({ groups, clients: ["client1"], adrift: new Set(adrift) });

  it("has a bridge between every two actives, from card to card", () => {
    const { bridges, cards, links } = layout(of(), 1232, 16);
    expect(bridges.map(({ a, b }) => [a, b])).toEqual([["mds2", "mds4"]]);
    const [first] = bridges;
    expect(first && inside(first.curve[0], cards.mds2 as Box)).toBe(true);
    expect(first && inside(along(first.curve, 1), cards.mds4 as Box)).toBe(true);
    expect(links.some(({ a, b }) => a === "mds2" && b === "mds4")).toBe(false);
    expect(layout(of(["mds4"]), 1232, 16).bridges).toEqual([]);
  });

  it("knows which bridges carried something lately", () => {
    const { bridges } = layout(of(), 1232, 16);
    const line = (from: string, to: string, kind: string, at_ns: number): MessageLine => [
      from,
      to,
      kind,
      at_ns,
      1,
    ];
    const lines = [line("mds1", "mds2", "Prepare", 950), line("mds4", "mds2", "CommitReq", 900)];
    expect(carrying(bridges, lines, 500)).toEqual(["mds2 mds4"]);
    expect(carrying(bridges, lines, 901)).toEqual([]);
    expect(carrying(bridges, lines.slice(0, 1), 0)).toEqual([]);
  });

  it("gives every kind between groups its own family", () => {
    for (const kind of ["OpReq", "Ack", "VoteReq", "Decided", "LookUp", "Found"])
      expect(familyOf(kind)).toBe("crossing");
    expect(familyOf("Referred")).toBe("call");
    expect(familyOf("ImagePacketAcked")).toBe("renewing");
    expect([isReply("Vote"), isReply("VoteReq")]).toEqual([true, false]);
  });
});

describe("rules", () => {
  const servers = ["mds1", "mds2", "mds3"];
  const cut = (a: string, b: string, direction: Link["direction"] = "both"): Link => ({
    a,
    b,
    direction,
    rule: "cut",
  });

  it("knows who is cut off from all others", () => {
    expect(adriftOf([], servers, ["client1"])).toEqual(new Set());
    expect(adriftOf([cut("mds1", "*")], servers, ["client1"])).toEqual(new Set(["mds1"]));
    expect(adriftOf([cut("mds1", "*", "to")], servers, ["client1"])).toEqual(new Set());
    expect(adriftOf([cut("mds1", "mds2")], servers, ["client1"])).toEqual(new Set());
  });

  it("finds an island of two", () => {
    const others = ["mds3", "client1", "coordination"];
    const links = ["mds1", "mds2"].flatMap((a) => others.map((b) => cut(a, b)));
    expect(adriftOf(links, servers, ["client1"])).toEqual(new Set(["mds1", "mds2"]));
  });

  it("turns a rule to the side from which it is looked at", () => {
    expect(stateOf([cut("mds2", "mds1", "to")], "mds1", "mds2").direction).toBe("from");
    expect(stateOf([cut("mds1", "mds2", "to"), cut("mds1", "mds2", "from")], "mds1", "mds2").direction).toBe(
      "both",
    );
    expect(stateOf([{ ...cut("mds1", "mds2"), rule: "100 ms slower" }], "mds2", "mds1")).toMatchObject({
      kind: "harmed",
      words: "100 ms slower",
    });
  });

  it("finds the links of a past moment in its faults", () => {
    const fault = (verb: string, targets: string[], options: Fault["options"]): Fault => ({
      fault: 1,
      verb,
      targets,
      options,
      at_ns: 0,
    });
    const everybody = [...servers, "client1"];
    const verbs = [row("cut", { rule: "cut" }), row("delay", { rule: "{ms} ms slower" }), row("crash")];
    const linksOf = (each: Fault): Link[] => linksOfFaults([each], everybody, verbs);
    const island = linksOf(fault("cut", ["mds1", "mds2"], { direction: "both", island: true }));
    expect(adriftOf(island, servers, ["client1"])).toEqual(new Set(["mds1", "mds2"]));
    const alone = linksOf(fault("cut", ["mds3"], { direction: "both", island: false }));
    expect(adriftOf(alone, servers, ["client1"])).toEqual(new Set(["mds3"]));
    const slow = linksOf(fault("delay", ["mds1", "mds2"], { ms: 80, direction: "to" }));
    expect(stateOf(slow, "mds2", "mds1")).toMatchObject({ words: "80 ms slower", direction: "from" });
    expect(linksOf(fault("crash", ["mds1"], {}))).toEqual([]);
  });
});

describe("a ZooKeeper ensemble", () => {
  const zks = ["zk1", "zk2", "zk3"];
  const cut = (a: string, b: string): Link => ({ a, b, direction: "both", rule: "cut" });

  it("is cut off when every one of its servers is, else only harmed", () => {
    const some = gathered([cut("mds1", "zk1"), cut("zk2", "mds1")], zks, ["mds1", "mds2"]);
    expect(stateOf(some, "mds1", "coordination")).toMatchObject({ kind: "harmed", words: "cut: zk1, zk2" });
    const all = gathered([cut("mds1", "zk1"), cut("mds1", "zk2"), cut("zk3", "*")], zks, ["mds1", "mds2"]);
    expect(stateOf(all, "mds1", "coordination").kind).toBe("cut");
    expect(stateOf(all, "mds2", "coordination")).toMatchObject({ kind: "harmed", words: "cut: zk3" });
    expect(gathered([cut("zk1", "zk2"), cut("mds1", "mds2")], zks, [])).toEqual([cut("mds1", "mds2")]);
  });

  it("turns a direction that was told from its side", () => {
    const [link] = gathered([{ a: "zk1", b: "mds1", direction: "to", rule: "cut" }], ["zk1"], ["mds1"]);
    expect(link).toEqual({ a: "mds1", b: "coordination", direction: "from", rule: "cut" });
  });

  it("has a quorum while more than half of it serve", () => {
    const server = (role: EnsembleServer["role"], process: EnsembleServer["process"] = "running") =>
      ({ role, process }) as EnsembleServer;
    expect(hasQuorum([server("leader"), server("follower"), server("down", "stopped")])).toBe(true);
    expect(hasQuorum([server("leader", "paused"), server("follower"), server("down")])).toBe(false);
    expect(hasQuorum([server("looking"), server("looking"), server("looking")])).toBe(false);
  });
});

it("says in full what a process runs in", () => {
  const box = { container: "", image: "", address: "127.0.0.1:20001", pid: 17 };
  expect(whereWords(box)).toBe("process 17, 127.0.0.1:20001");
  const reported = whereWords({
    container: "352227d52c70",
    image: "cloverlab:1",
    address: "172.18.0.9:7000",
    pid: 16,
  });
  expect(reported).toBe("container 352227d52c70 of cloverlab:1, 172.18.0.9:7000, process 16");
});
