/** Texts of the page that stand in its source outside of the message catalogue. */

import { type NodePath, parseSync, traverse, types } from "@babel/core";
import { parsing } from "./parsing";

/** Attributes and fields that a person reads. */
const READ = new Set([
  ...["aria-label", "aria-valuetext", "title", "label", "placeholder", "alt", "thumbLabel"],
  ...["says", "does", "word", "words", "meaning", "why"],
]);
/** Written alike in every language. */
const NAMES = new Set(["Cloverlab", "sn", "pid", "ZooKeeper"]);

function isText(text: string): boolean {
  return /[A-Za-z]{2}/.test(text) && !NAMES.has(text.replaceAll("{}", "").trim());
}

function nameOf(node: types.Node): string {
  if (types.isJSXIdentifier(node) || types.isIdentifier(node)) return node.name;
  return types.isStringLiteral(node) ? node.value : "";
}

/** The texts that an expression can be. */
function textsOf(node: types.Node | null | undefined): string[] {
  if (types.isStringLiteral(node)) return [node.value];
  if (types.isTemplateLiteral(node)) return [node.quasis.map(({ value }) => value.raw).join("{}")];
  if (types.isJSXExpressionContainer(node)) return textsOf(node.expression);
  if (types.isConditionalExpression(node)) return [...textsOf(node.consequent), ...textsOf(node.alternate)];
  return types.isLogicalExpression(node) ? textsOf(node.right) : [];
}

/** "12: Close" for each text of a file that no macro of the catalogue holds. */
export function hardCoded(code: string, filename: string): string[] {
  const ast = parseSync(code, parsing(filename));
  if (ast === null) throw new Error(`${filename} cannot be read`);
  const found: string[] = [];
  const note = ({ node }: NodePath, texts: string[]): void => {
    for (const text of texts.filter(isText)) found.push(`${node.loc?.start.line}: ${text.trim()}`);
  };
  traverse(ast, {
    JSXElement(path) {
      if (/^(Trans|Plural|Select)$/.test(nameOf(path.node.openingElement.name))) path.skip();
    },
    JSXText(path) {
      note(path, [path.node.value]);
    },
    JSXExpressionContainer(path) {
      if (!path.parentPath.isJSXAttribute()) note(path, textsOf(path.node));
    },
    JSXAttribute(path) {
      if (READ.has(nameOf(path.node.name))) note(path, textsOf(path.node.value));
    },
    ObjectProperty(path) {
      if (READ.has(nameOf(path.node.key))) note(path, textsOf(path.node.value));
    },
    CallExpression(path) {
      if (nameOf(path.node.callee) === "toast") note(path, textsOf(path.node.arguments[0]));
    },
  });
  return found;
}
