import { transformAsync } from "@babel/core";
import type { Plugin } from "vite";

const SOURCE = /\/src\/.*\.tsx?$/;

/** Expands the macros of Lingui, and leaves types and JSX to what comes after it. */
export function linguiMacro(): Plugin {
  return {
    name: "lingui-macro",
    enforce: "pre",
    async transform(code, id) {
      const [path = id] = id.split("?");
      if (!SOURCE.test(path) || !/@lingui\/\w+\/macro/.test(code)) return null;
      const made = await transformAsync(code, {
        filename: path,
        babelrc: false,
        configFile: false,
        sourceMaps: true,
        parserOpts: { plugins: path.endsWith("x") ? ["typescript", "jsx"] : ["typescript"] },
        plugins: [["@lingui/babel-plugin-lingui-macro", { stripMessageField: false }]],
      });
      return made?.code ? { code: made.code, map: made.map } : null;
    },
  };
}
