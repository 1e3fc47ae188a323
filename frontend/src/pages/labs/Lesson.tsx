import { Fragment, useMemo } from "react";
import type { Lab } from "../../api/schema";
import { type Block, blocksOf, type Span } from "./markdown";

const TAGS = { strong: "strong", em: "em", code: "code" } as const;

/** The text of a lab, without its title. */
export function Lesson({ page }: { page: string }) {
  const blocks = useMemo(
    () => blocksOf(page).filter((block) => block.kind !== "heading" || block.level > 1),
    [page],
  );
  return (
    <div className="lesson-text">
      {blocks.map((block, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the text does not change
        <BlockOf key={at} block={block} />
      ))}
    </div>
  );
}

function BlockOf({ block }: { block: Block }) {
  if (block.kind === "heading") return <h3>{spans(block.spans)}</h3>;
  if (block.kind === "paragraph") return <p>{spans(block.spans)}</p>;
  const List = block.ordered ? "ol" : "ul";
  return (
    <List>
      {block.items.map((item, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the text does not change
        <li key={at}>{spans(item)}</li>
      ))}
    </List>
  );
}

function spans(found: Span[]) {
  return found.map(({ kind, text }, at) => {
    const Tag = kind === "text" ? Fragment : TAGS[kind];
    // biome-ignore lint/suspicious/noArrayIndexKey: the text does not change
    return <Tag key={at}>{text}</Tag>;
  });
}

/** What to read in the papers. */
export function Reading({ read }: { read: Lab["read"] }) {
  return (
    <ul className="lab-reading">
      {read.map(({ paper, section, about }) => (
        <li key={`${paper} ${section}`}>
          <strong>
            {paper} {section}
          </strong>{" "}
          {about}
        </li>
      ))}
    </ul>
  );
}
