import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { faultsOf } from "./faults.mjs";
import { hardCoded } from "./hardCoded";

const ROOT = new URL("..", import.meta.url);
const LOAD_MS = 180_000;

function run(script: string): Promise<string> {
  return new Promise((done) => {
    execFile(process.execPath, [script], { cwd: ROOT }, (error, stdout, stderr) =>
      done(error === null ? "" : stdout + stderr),
    );
  });
}

describe("the catalogues", () => {
  it(
    "have every message of the source, translated",
    async () => expect(await run("messages/check.mjs")).toBe(""),
    LOAD_MS,
  );

  it("lack a message that is new, that has no translation, or that lost a placeholder", () => {
    const source = { a: "Close", b: "Delete {name}", c: "New" };
    const whole = { a: { translation: "关闭" }, b: { translation: "删除 {name}" }, c: { translation: "新" } };
    expect(faultsOf(source, whole, false)).toEqual([]);
    const { c: _, ...older } = whole;
    expect(faultsOf(source, older, false)).toEqual(["not in the catalogue: New"]);
    expect(faultsOf(source, { ...whole, a: { translation: " " } }, false)).toEqual(["no translation: Close"]);
    expect(faultsOf(source, { ...whole, b: { translation: "删除" } }, false)).toEqual([
      "other placeholders: Delete {name}",
    ]);
    expect(faultsOf({ a: "Close" }, { a: {}, z: { message: "Gone" } }, true)).toEqual([
      "no longer in the source: Gone",
    ]);
  });
});

describe("the source", () => {
  it("has no text outside of the catalogue", () => {
    const files = readdirSync(new URL("src", ROOT), { recursive: true, encoding: "utf8" }).filter(
      (file) => /\.tsx?$/.test(file) && !/\.test\.|^testing\//.test(file),
    );
    const found = files.flatMap((file) =>
      hardCoded(readFileSync(new URL(`src/${file}`, ROOT), "utf8"), file).map((text) => `${file}:${text}`),
    );
    expect(files.length).toBeGreaterThan(200);
    expect(found).toEqual([]);
  });

  it("is searched between tags, in attributes that are read, in tables and in toasts", () => {
    const code = `
      const ROWS = [{ label: "Slow disk", key: "S" }, { label: msg\`Fast disk\` }];
      const shown = (
        <p title={late ? "Late" : t\`Early\`} className="soft small">
          Wait here <Trans>or there</Trans> {ready && "Go on"} {count} <b>sn</b>
        </p>
      );
      toast(\`Made \${name}\`);
    `;
    expect(hardCoded(code, "a.tsx")).toEqual([
      "2: Slow disk",
      "4: Late",
      "4: Wait here",
      "5: Go on",
      "8: Made {}",
    ]);
  });
});
