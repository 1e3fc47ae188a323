import { describe, expect, it } from "vitest";
import { useLab } from "./store";
import { addressOf, pageOf } from "./url";

const NOTHING = { path: "/", spot: "", lab: "", paper: "", scenario: "", compare: "" };

describe("addresses", () => {
  it("name the namespace page with its path, and are found again", () => {
    for (const path of ["/", "/a", "/a b/c?d", "/ä/&=#", "/100%/+"]) {
      const address = new URL(addressOf("namespace", { ...useLab.getState(), path }), "http://here");
      expect(pageOf(address)).toEqual({
        page: "namespace",
        path,
        spot: "",
        lab: "",
        paper: "",
        scenario: "",
        compare: "",
      });
    }
  });

  it("name the storage pool with the replica that is pointed at", () => {
    const spot = "g1/mds1/000000-0000000001-00000000000000000416-829ec90c";
    const address = new URL(addressOf("pool", { ...useLab.getState(), spot }), "http://here");
    expect(address.pathname).toBe("/storage-pool");
    expect(pageOf(address)).toEqual({ ...NOTHING, page: "pool", spot });
    expect(addressOf("checkpoints", { ...useLab.getState(), spot })).toBe("/checkpoints");
  });

  it("hold what is compared", () => {
    const compare = "?scenario=faults/calm&seed=1&with=standbys:1&with=standbys:3";
    const address = new URL(addressOf("compare", { ...useLab.getState(), compare }), "http://here");
    expect(pageOf(address)).toEqual({ ...NOTHING, page: "compare", compare });
  });

  it("name a lab, and the list of labs", () => {
    for (const lab of ["", "what-is-a-standby"]) {
      const address = new URL(addressOf("labs", { ...useLab.getState(), lab }), "http://here");
      expect(pageOf(address)).toEqual({ ...NOTHING, page: "labs", lab });
    }
    expect(pageOf({ pathname: "/labs/..", search: "" }).page).toBe("cluster");
  });

  it("name a scenario with its folder, and the list of scenarios", () => {
    for (const scenario of ["", "faults/crash-the-active"]) {
      const address = new URL(addressOf("scenarios", { ...useLab.getState(), scenario }), "http://here");
      expect(pageOf(address)).toMatchObject({ page: "scenarios", scenario, lab: "" });
    }
    expect(pageOf({ pathname: "/scenarios/../faults", search: "" }).page).toBe("cluster");
  });

  it("name a mechanism or an experiment of a paper, and the list of papers", () => {
    for (const paper of ["", "cfs/election", "experiments/saa-7.3"]) {
      const address = new URL(addressOf("papers", { ...useLab.getState(), paper }), "http://here");
      expect(pageOf(address)).toEqual({ ...NOTHING, page: "papers", paper });
    }
    expect(pageOf({ pathname: "/papers/cfs/election/more", search: "" }).page).toBe("cluster");
  });

  it("fall back to the root and to the cluster page", () => {
    expect(pageOf({ pathname: "/namespace", search: "?path=a/b" }).path).toBe("/");
    expect(pageOf({ pathname: "/namespace", search: "?path=/a/b//" }).path).toBe("/a/b");
    expect(pageOf({ pathname: "/elsewhere", search: "?path=/a" })).toEqual({
      page: "cluster",
      path: "/",
      spot: "",
      lab: "",
      paper: "",
      scenario: "",
      compare: "",
    });
    expect(addressOf("cluster", useLab.getState())).toBe("/");
  });
});
