/** Where a cursor stands in the text of a scenario: pure, and forgiving, because the text is unfinished. */

export interface Place {
  /** Keys around the cursor from the outside; "[]" for an item of a list. */
  path: string[];
  /** The key whose value is written; null where a key is. */
  key: string | null;
  /** What of the key or value is there already. */
  typed: string;
  /** Fault of the step around the cursor, as far as it is written. */
  fault: string;
}

interface Frame {
  /** Column of a block's key; -1 within brackets. */
  indent: number;
  name: string;
  /** The key whose value is open. */
  key: string | null;
}

const WORD = /[A-Za-z0-9_.-]*$/;
const VALUE = /[^:[\],{}\n"'\s][^:[\],{}\n"']*$/;
const KEY = /^["']?([A-Za-z_][\w-]*)["']?\s*:(?=\s|$)/;
const FAULT = /\bfault:\s*([a-z_]+)/g;

/** The place at the end of the text. */
export function placeAt(before: string): Place {
  const open: Frame[] = [];
  const lines = before.split("\n");
  for (const [index, line] of lines.entries()) {
    const last = index === lines.length - 1;
    const rest = open.at(-1)?.indent === -1 ? line : blockLine(line, open, last);
    scan(rest, open);
  }
  const inner = open.at(-1);
  const flow = inner?.indent === -1;
  const key = inner?.key ?? null;
  const path = open.flatMap((frame, at) => {
    const own = frame.name === "" ? [] : [frame.name];
    return at === open.length - 1 || frame.key === null ? own : [...own, frame.key];
  });
  const of = flow && inner?.name === "[]" ? "[]" : key;
  const typed = (of === null ? WORD : VALUE).exec(before)?.[0] ?? "";
  return { path, key: of, typed, fault: faultOf(before) };
}

/** Takes the dashes and the key of a line of a block; returns what follows them. */
function blockLine(line: string, open: Frame[], last: boolean): string {
  let text = line.trimStart();
  let indent = line.length - text.length;
  if ((text === "" && !last) || text.startsWith("#")) return "";
  while (/^-( |$)/.test(text)) {
    closeBlocks(open, indent, true);
    open.push({ indent, name: "[]", key: null });
    const rest = text.slice(1).trimStart();
    indent += text.length - rest.length;
    text = rest;
  }
  closeBlocks(open, indent, false);
  const found = KEY.exec(text);
  open.push({ indent, name: "", key: found?.[1] ?? null });
  return text.slice(found?.[0].length ?? 0);
}

/** Closes the blocks that a line at this column is no part of; a dash may stand right below the key of its list. */
function closeBlocks(open: Frame[], indent: number, dash: boolean): void {
  const ends = ({ indent: at, name }: Frame): boolean =>
    at > indent || (at === indent && !(dash && name === ""));
  while (open.length > 0 && ends(open.at(-1) as Frame)) open.pop();
}

/** Follows brackets, commas and keys within a line. */
function scan(text: string, open: Frame[]): void {
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] ?? "";
    const frame = open.at(-1);
    const flow = frame?.indent === -1;
    if (sign === "#" && (at === 0 || text[at - 1] === " ")) return;
    if (sign === '"' || sign === "'") {
      const end = text.indexOf(sign, at + 1);
      if (end < 0) return;
      at = end;
    } else if (sign === "{") open.push({ indent: -1, name: "", key: null });
    else if (sign === "[") open.push({ indent: -1, name: "[]", key: null });
    else if (flow && (sign === "}" || sign === "]")) open.pop();
    else if (flow && sign === ",") frame.key = null;
    else if (flow && frame.name === "") {
      const found = KEY.exec(text.slice(at));
      const begins = at === 0 || /[\s,{]/.test(text[at - 1] ?? "");
      if (found !== null && begins) {
        frame.key = found[1] ?? "";
        at += found[0].length - 1;
      }
    }
  }
}

function faultOf(before: string): string {
  const step = before.slice(before.lastIndexOf("\n  - ") + 1);
  return [...step.matchAll(FAULT)].at(-1)?.[1] ?? "";
}
