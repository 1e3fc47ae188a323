import { describe, expect, it } from "vitest";
import { messages } from "./plugin";

async function made(code: string, path: string): Promise<string> {
  const { transform } = messages() as unknown as {
    transform: (code: string, id: string) => Promise<{ code: string } | null>;
  };
  return (await transform(code, path))?.code ?? "";
}

const MACROS = 'import { msg, t } from "@lingui/core/macro";\nimport { Trans } from "@lingui/react/macro";\n';

describe("a message in the source", () => {
  it("is its own key when it is a plain text", async () => {
    expect(await made(`${MACROS}const a = t\`Close\`;`, "/src/a.ts")).toMatch(/_\(.*"Close"\)/);
    expect(await made(`${MACROS}const a = <Trans>Close <b>it</b></Trans>;`, "/src/a.tsx")).toContain(
      'id: "Close <0>it</0>"',
    );
    expect(await made(`${MACROS}const a = msg\`Close\`;`, "/src/a.ts")).not.toContain("message");
  });

  it("is compiled when it has a placeholder, and named when it has a context", async () => {
    const filled = await made(`${MACROS}const a = t\`Delete \${name}\`;`, "/src/a.ts");
    expect(filled.replace(/\s+/g, " ")).toContain('message: ["Delete ", ["name"]]');
    const named = await made(`${MACROS}const a = t({ context: "x", message: "open" });`, "/src/a.ts");
    expect(named).toMatch(/id: "[^"]{6}",\s*message: "open"/);
  });

  it("is left alone outside of the page", async () => {
    expect(await made(`${MACROS}const a = t\`Close\`;`, "/node_modules/a.ts")).toBe("");
  });
});

describe("a catalogue", () => {
  it("has the translations by the keys of the source", async () => {
    const po =
      'msgid "Close"\nmsgstr "关闭"\n\nmsgid "Delete {name}"\nmsgstr "删除 {name}"\n\nmsgid "New"\nmsgstr ""\n';
    const code = await made(po, "/src/locales/zh-CN.po");
    const text = JSON.parse(/JSON\.parse\((.*)\);/.exec(code)?.[1] ?? "") as string;
    const [[key, value], ...rest] = Object.entries(JSON.parse(text)) as [[string, unknown], ...unknown[]];
    expect([key, value]).toEqual(["Close", "关闭"]);
    expect(rest).toEqual([[expect.stringMatching(/^.{6}$/), ["删除 ", ["name"]]]]);
  });
});
