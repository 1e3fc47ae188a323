/** Messages of the page at build time: macros are expanded, and messages and catalogues are compiled. */

import { readFile } from "node:fs/promises";
import { type PluginObj, transformAsync, types } from "@babel/core";
import { formatter } from "@lingui/format-po";
import { compileMessage } from "@lingui/message-utils/compileMessage";
import { generateMessageId } from "@lingui/message-utils/generateMessageId";
import type { Plugin } from "vite";

type Compiled = ReturnType<typeof compileMessage>;

const SOURCE = /\/src\/.*\.tsx?$/;
const CATALOGUE = /\/src\/locales\/([\w-]+)\.po$/;

/** A compiled message with placeholders; null for a plain text, which is its own key and needs no compiling. */
function partsOf(message: string): Exclude<Compiled, string> | null {
  const compiled = compileMessage(message);
  return typeof compiled === "string" || compiled.every((part) => typeof part === "string") ? null : compiled;
}

/** Whether a message is its own key: a plain text without a context, which only its text names. */
function isOwnKey(id: string, message: string): boolean {
  return partsOf(message) === null && generateMessageId(message) === id;
}

type Named = types.ObjectProperty | types.JSXAttribute;

function isNamed(node: types.Node, name: string): node is Named {
  if (types.isObjectProperty(node)) return types.isIdentifier(node.key, { name });
  return types.isJSXAttribute(node) && types.isJSXIdentifier(node.name, { name });
}

function textOf(node: types.Node | null | undefined): string | null {
  const value = types.isJSXExpressionContainer(node) ? node.expression : node;
  return types.isStringLiteral(value) ? value.value : null;
}

/** The properties of a message as Lingui's macros leave it: a plain text said once, and any other text compiled. */
function shortened<Node extends types.Node>(properties: readonly Node[]): Node[] {
  const [id, message] = ["id", "message"].map((name) => properties.find((each) => isNamed(each, name)));
  if (id === undefined || message === undefined || !isNamed(id, "id") || !isNamed(message, "message"))
    return [...properties];
  const [key, text] = [textOf(id.value), textOf(message.value)];
  if (key === null || text === null) return [...properties];
  if (isOwnKey(key, text)) {
    id.value = message.value;
    return properties.filter((each) => each !== message);
  }
  const parts = types.valueToNode(partsOf(text) ?? text) as types.Expression;
  message.value = types.isJSXAttribute(message) ? types.jsxExpressionContainer(parts) : parts;
  return [...properties];
}

const compiled: PluginObj = {
  visitor: {
    Program: {
      exit(program) {
        program.traverse({
          ObjectExpression(path) {
            if (!path.node.leadingComments?.some(({ value }) => value === "i18n")) return;
            path.node.properties = shortened(path.node.properties);
            const [only, ...others] = path.node.properties;
            if (types.isObjectProperty(only) && others.length === 0 && path.parentPath.isCallExpression())
              path.replaceWith(only.value);
          },
          JSXOpeningElement({ node }) {
            if (types.isJSXIdentifier(node.name) && /^_?Trans\d*$/.test(node.name.name))
              node.attributes = shortened(node.attributes);
          },
        });
      },
    },
  },
};

async function source(code: string, path: string) {
  const made = await transformAsync(code, {
    filename: path,
    babelrc: false,
    configFile: false,
    sourceMaps: true,
    parserOpts: { plugins: path.endsWith("x") ? ["typescript", "jsx"] : ["typescript"] },
    plugins: [["@lingui/babel-plugin-lingui-macro", { stripMessageField: false }], compiled],
  });
  return made?.code ? { code: made.code, map: made.map } : null;
}

/** A catalogue as a module: the translations by their keys. A missing one leaves the English text. */
async function catalogue(path: string, locale: string) {
  const parsed = await formatter().parse(await readFile(path, "utf8"), {
    locale,
    sourceLocale: "en",
    filename: path,
  });
  const messages = Object.entries(parsed).flatMap(([id, { message = "", translation = "" }]) =>
    translation === ""
      ? []
      : [[isOwnKey(id, message) ? message : id, partsOf(translation) ?? translation] as const],
  );
  const text = JSON.stringify(JSON.stringify(Object.fromEntries(messages)));
  return { code: `export const messages = JSON.parse(${text});`, map: null };
}

export function messages(): Plugin {
  return {
    name: "cloverlab-messages",
    enforce: "pre",
    async transform(code, id) {
      const [path = id] = id.split("?");
      const [, locale] = CATALOGUE.exec(path) ?? [];
      if (locale !== undefined) return catalogue(path, locale);
      return SOURCE.test(path) && /@lingui\/\w+\/macro/.test(code) ? source(code, path) : null;
    },
  };
}
