import { describe, expect, it } from "vitest";
import { blocksOf, spansOf } from "./markdown";

describe("the text of a lab", () => {
  it("has headings, paragraphs and lists whose lines are joined", () => {
    expect(blocksOf("# Title\n\nOne\ntwo.\n\n- a\n  more\n- b\n1. c\n").map((block) => [block.kind])).toEqual(
      [["heading"], ["paragraph"], ["list"], ["list"]],
    );
    expect(blocksOf("- a\n  more")).toEqual([
      { kind: "list", ordered: false, items: [[{ kind: "text", text: "a more" }]] },
    ]);
    expect(blocksOf("## B\ntext")[0]).toEqual({
      kind: "heading",
      level: 2,
      spans: [{ kind: "text", text: "B" }],
    });
  });

  it("has bold, emphasis and code, and nothing else is markup", () => {
    expect(spansOf("a **b** *c* `d*e`")).toEqual([
      { kind: "text", text: "a " },
      { kind: "strong", text: "b" },
      { kind: "text", text: " " },
      { kind: "em", text: "c" },
      { kind: "text", text: " " },
      { kind: "code", text: "d*e" },
    ]);
    expect(spansOf("<b>2 * 3</b>")).toEqual([{ kind: "text", text: "<b>2 * 3</b>" }]);
  });
});
