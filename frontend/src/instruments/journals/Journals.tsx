import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useState } from "react";
import { useShallow } from "zustand/react/shallow";
import type { CellState } from "../../api/schema";
import { useCanvas } from "../../draw/useCanvas";
import { shownPicture, useLab, useRunWords } from "../../store/store";
import { Block } from "./Block";
import { drawCell } from "./draw";
import { blocksOf } from "./layout";
import "./journals.css";

const WIDTHS = [0.12, 0.25, 0.5, 0.9, 1.6];
const STATES: readonly CellState[] = ["p", "c", "a", "e", "x"];

/** One block for each replica group: a row for each server, a column for each serial number. */
export function Journals() {
  const words = useRunWords();
  const [zoom, setZoom] = useState(2);
  const [chosen, setChosen] = useState<string | null>(null);
  const groups = useLab(useShallow((state) => Object.keys(shownPicture(state).groups)));
  const blocks = blocksOf(groups, chosen);
  const widen = (steps: number): void =>
    setZoom((old) => Math.max(0, Math.min(old + steps, WIDTHS.length - 1)));
  return (
    <>
      <header className="instrument-head">
        <h2>
          <Trans>Journals</Trans>
        </h2>
        <span className="legend">
          {STATES.map((state) => (
            <Key key={state} state={state} words={words.states[state]} />
          ))}
        </span>
        <span className="zoom">
          <button
            type="button"
            className="plain"
            aria-label={t`Wider columns`}
            title={t`Wider columns (+)`}
            onClick={() => widen(1)}
          >
            +
          </button>
          <button
            type="button"
            className="plain"
            aria-label={t`Narrower columns`}
            title={t`Narrower columns (−)`}
            onClick={() => widen(-1)}
          >
            −
          </button>
        </span>
      </header>
      {blocks.length < groups.length && (
        <fieldset className="journals-groups">
          <legend className="visually-hidden">
            <Trans>Group whose journals are shown</Trans>
          </legend>
          {groups.map((name) => (
            <button
              key={name}
              type="button"
              className="chip"
              aria-pressed={blocks.includes(name)}
              onClick={() => setChosen(name)}
            >
              {name}
            </button>
          ))}
        </fieldset>
      )}
      {blocks.map((group) => (
        <Block
          key={group}
          group={group}
          named={groups.length > 1}
          cell_rem={WIDTHS[zoom] ?? 0.5}
          onWiden={widen}
        />
      ))}
    </>
  );
}

function Key({ state, words: [name, says] }: { state: CellState; words: readonly [string, string] }) {
  const [canvas] = useCanvas((context, { width, height, rem }, palette) =>
    drawCell(context, { x: 0, y: 0, width, height }, state, rem, palette),
  );
  return (
    <span className="journals-key" title={says}>
      <canvas ref={canvas} />
      {name}
    </span>
  );
}
