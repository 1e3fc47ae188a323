/** Messages of the page at build time: macros are expanded, and messages and catalogues are compiled. */

import { type PluginObj, transformAsync, types } from "@babel/core";
import { formatter } from "@lingui/format-po";
import { compileMessage } from "@lingui/message-utils/compileMessage";
import { generateMessageId } from "@lingui/message-utils/generateMessageId";
import type { Plugin } from "vite";
import { parsing } from "./parsing";

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

function textIn(properties: readonly types.Node[], name: string) {
  const found = properties.find(
    (each): each is types.ObjectProperty =>
      types.isObjectProperty(each) && types.isIdentifier(each.key, { name }),
  );
  return found !== undefined && types.isStringLiteral(found.value)
    ? { property: found, text: found.value.value }
    : null;
}

/** Shortens a message as Lingui's macros leave it: a plain text is said once, and any other text compiled. */
function shorten(message: types.ObjectExpression): void {
  const [id, text] = [textIn(message.properties, "id"), textIn(message.properties, "message")];
  if (id === null || text === null) return;
  if (isOwnKey(id.text, text.text)) {
    id.property.value = text.property.value;
    message.properties = message.properties.filter((each) => each !== text.property);
  } else {
    text.property.value = types.valueToNode(partsOf(text.text) ?? text.text) as types.Expression;
  }
}

const compiled: PluginObj = {
  visitor: {
    Program: {
      exit(program) {
        program.traverse({
          ObjectExpression(path) {
            if (!path.node.leadingComments?.some(({ value }) => value === "i18n")) return;
            shorten(path.node);
            const [only, ...others] = path.node.properties;
            if (types.isObjectProperty(only) && others.length === 0 && path.parentPath.isCallExpression())
              path.replaceWith(only.value);
          },
        });
      },
    },
  },
};

async function source(code: string, path: string) {
  const made = await transformAsync(code, {
    ...parsing(path),
    sourceMaps: true,
    plugins: [["@lingui/babel-plugin-lingui-macro", { stripMessageField: false }], compiled],
  });
  return made?.code ? { code: made.code, map: made.map } : null;
}

/** A catalogue as a module: the translations by their keys. A missing one leaves the English text. */
async function catalogue(po: string, path: string, locale: string) {
  const parsed = await formatter().parse(po, {
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
      if (locale !== undefined) return catalogue(code, path, locale);
      return SOURCE.test(path) && /@lingui\/\w+\/macro/.test(code) ? source(code, path) : null;
    },
  };
}
