import { autocompletion, type CompletionContext, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { t } from "@lingui/core/macro";
import { useEffect, useRef } from "react";
import type { WrongLine } from "../../api/schema";
import { proposals, type Schema } from "./completion";

interface Props {
  text: string;
  schema: Schema | null;
  error: WrongLine | null;
  /** A line to show, and a number that grows with each wish. */
  goTo: { line: number; wish: number };
  onChange: (text: string) => void;
}

const LOOK = EditorView.theme({
  "&": { backgroundColor: "var(--surface)", color: "var(--ink)", borderRadius: "0.6rem" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--ink)", padding: "0.6rem 0" },
  ".cm-content:focus": { outline: "3px solid var(--accent)", outlineOffset: "-3px" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--sunk)", color: "var(--ink-soft)", border: "none" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent-wash) 45%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "var(--accent-wash)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--active-wash)",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--surface)",
    color: "var(--ink)",
    border: "1px solid var(--line-strong)",
    borderRadius: "0.5rem",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent)",
    color: "var(--surface)",
  },
  ".cm-diagnostic-error": { borderLeftColor: "var(--broken)" },
});
const COLOURS = syntaxHighlighting(
  HighlightStyle.define([
    { tag: tags.definition(tags.propertyName), color: "var(--accent)", fontWeight: "600" },
    { tag: tags.propertyName, color: "var(--accent)", fontWeight: "600" },
    { tag: tags.string, color: "var(--standby)" },
    { tag: tags.comment, color: "var(--ink-soft)", fontStyle: "italic" },
    { tag: tags.punctuation, color: "var(--ink-soft)" },
  ]),
);

/** The text of a scenario, with completion, and the error at its line. */
export function Editor({ text, schema, error, goTo, onChange }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const now = useRef({ schema, onChange });
  now.current = { schema, onChange };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text of the first render; later ones are set below
  useEffect(() => {
    if (box.current === null) return;
    const complete = (context: CompletionContext) => {
      if (now.current.schema === null) return null;
      const { typed, found } = proposals(now.current.schema, context.state.sliceDoc(0, context.pos));
      if (found.length === 0 || (typed === "" && !context.explicit)) return null;
      return { from: context.pos - typed.length, options: found, validFor: /^[\w .-]*$/ };
    };
    const made = new EditorView({
      parent: box.current,
      state: EditorState.create({
        doc: text,
        extensions: [
          ...[lineNumbers(), history(), drawSelection(), highlightActiveLine(), yaml(), indentUnit.of("  ")],
          ...[autocompletion({ override: [complete] }), lintGutter(), LOOK, COLOURS, EditorView.lineWrapping],
          keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
          EditorView.contentAttributes.of({ "aria-label": t`Text of the scenario`, spellcheck: "false" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) now.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, []);
  useEffect(() => {
    const made = view.current;
    if (made === null || made.state.doc.toString() === text) return;
    made.dispatch({ changes: { from: 0, to: made.state.doc.length, insert: text } });
  }, [text]);
  useEffect(() => {
    const made = view.current;
    if (made === null) return;
    const at = made.state.doc.line(Math.min(Math.max(1, error?.line ?? 1), made.state.doc.lines));
    const found = error === null ? [] : [{ ...at, severity: "error" as const, message: error.reason }];
    made.dispatch(setDiagnostics(made.state, found));
  }, [error]);
  useEffect(() => {
    const made = view.current;
    if (made === null || goTo.wish === 0) return;
    const at = made.state.doc.line(Math.min(goTo.line, made.state.doc.lines));
    made.dispatch({
      selection: { anchor: at.from },
      effects: EditorView.scrollIntoView(at.from, { y: "center" }),
    });
    made.focus();
  }, [goTo]);
  return <div ref={box} className="scenario-editor" data-testid="scenario-editor" />;
}
