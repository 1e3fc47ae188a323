import { describe, expect, it } from "vitest";
import { useLab } from "./store";
import { addressOf, pageOf } from "./url";

describe("addresses", () => {
  it("name the namespace page with its path, and are found again", () => {
    for (const path of ["/", "/a", "/a b/c?d", "/ä/&=#", "/100%/+"]) {
      const address = new URL(addressOf("namespace", { ...useLab.getState(), path }), "http://here");
      expect(pageOf(address)).toEqual({ page: "namespace", path });
    }
  });

  it("fall back to the root and to the cluster page", () => {
    expect(pageOf({ pathname: "/namespace", search: "?path=a/b" }).path).toBe("/");
    expect(pageOf({ pathname: "/namespace", search: "?path=/a/b//" }).path).toBe("/a/b");
    expect(pageOf({ pathname: "/elsewhere", search: "?path=/a" })).toEqual({ page: "cluster", path: "/" });
    expect(addressOf("cluster", useLab.getState())).toBe("/");
  });
});
