import { describe, expect, it } from "vitest";
import { preferred } from "./language";

describe("the language of a first visit", () => {
  it("is Chinese where the browser prefers Chinese, and English elsewhere", () => {
    expect(preferred(null, "zh-CN")).toBe("zh-CN");
    expect(preferred(null, "zh")).toBe("zh-CN");
    expect(preferred(null, "zh-Hans-SG")).toBe("zh-CN");
    expect(preferred(null, "en-GB")).toBe("en");
    expect(preferred(null, "zha")).toBe("en");
  });

  it("gives way to a choice, unless the page no longer has that language", () => {
    expect(preferred("en", "zh-CN")).toBe("en");
    expect(preferred("zh-CN", "en")).toBe("zh-CN");
    expect(preferred("fr", "zh-CN")).toBe("zh-CN");
  });
});
