/** The part of Markdown in which labs are written: headings, lists, paragraphs, bold, emphasis and code. */

export interface Span {
  kind: "text" | "strong" | "em" | "code";
  text: string;
}

export type Block =
  | { kind: "heading"; level: number; spans: Span[] }
  | { kind: "paragraph"; spans: Span[] }
  | { kind: "list"; ordered: boolean; items: Span[][] };

const SPAN = /\*\*(.+?)\*\*|\*(\S.*?)\*|`([^`]+)`/g;
const ITEM = /^(?:-|(\d+)\.) +(.*)$/;

export function spansOf(text: string): Span[] {
  const found: Span[] = [];
  let end = 0;
  for (const match of text.matchAll(SPAN)) {
    const [whole, strong, em, code] = match;
    if (match.index > end) found.push({ kind: "text", text: text.slice(end, match.index) });
    if (strong !== undefined) found.push({ kind: "strong", text: strong });
    else if (em !== undefined) found.push({ kind: "em", text: em });
    else found.push({ kind: "code", text: code ?? "" });
    end = match.index + whole.length;
  }
  if (end < text.length) found.push({ kind: "text", text: text.slice(end) });
  return found;
}

/** Lines that belong together: a heading, an item, or a paragraph; a line that continues one is joined to it. */
function joined(markdown: string): string[] {
  const lines: string[] = [];
  let open = false;
  for (const line of markdown.split("\n")) {
    const text = line.trim();
    const begins = text === "" || text.startsWith("#") || ITEM.test(line);
    if (open && !begins) lines[lines.length - 1] += ` ${text}`;
    else if (text !== "") lines.push(text);
    open = text !== "" && !text.startsWith("#");
  }
  return lines;
}

export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  for (const line of joined(markdown)) {
    const heading = /^(#+) +(.*)$/.exec(line);
    const item = ITEM.exec(line);
    if (heading?.[1] !== undefined)
      blocks.push({ kind: "heading", level: heading[1].length, spans: spansOf(heading[2] ?? "") });
    else if (item !== null) {
      const ordered = item[1] !== undefined;
      const spans = spansOf(item[2] ?? "");
      const last = blocks.at(-1);
      if (last?.kind === "list" && last.ordered === ordered) last.items.push(spans);
      else blocks.push({ kind: "list", ordered, items: [spans] });
    } else blocks.push({ kind: "paragraph", spans: spansOf(line) });
  }
  return blocks;
}
