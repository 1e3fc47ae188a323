import { describe, expect, it } from "vitest";
import { apiOf, clusterOf, freeName, inCluster, MAIN } from "./fleet";

describe("the shown cluster", () => {
  it("is named by the URL, and is the main one otherwise", () => {
    expect(clusterOf("?run=2&cluster=sim1")).toBe("sim1");
    expect(clusterOf("")).toBe(MAIN);
    expect(clusterOf("?cluster=../x")).toBe(MAIN);
  });

  it("has its own API, but not of what all share", () => {
    expect(apiOf("/cluster", MAIN)).toBe("/api/cluster");
    expect(apiOf("/cluster", "sim1")).toBe("/api/clusters/sim1/cluster");
    expect(apiOf("/clusters", "sim1")).toBe("/api/clusters");
    expect(apiOf("/compare/3", "sim1")).toBe("/api/compare/3");
  });

  it("stays in the address of each page", () => {
    expect(inCluster("/", MAIN)).toBe("/");
    expect(inCluster("/", "sim1")).toBe("/?cluster=sim1");
    expect(inCluster("/namespace?path=/a", "sim1")).toBe("/namespace?path=/a&cluster=sim1");
  });

  it("gets a free name when it is new", () => {
    expect(freeName([MAIN])).toBe("sim1");
    expect(freeName([MAIN, "sim1", "sim3"])).toBe("sim2");
  });
});
