import { type KeyboardEvent, type PointerEvent, useMemo, useState } from "react";
import type { CellState } from "../../api/types";
import { useCanvas } from "../../draw/useCanvas";
import { useLab } from "../../store/store";
import { draw, drawCell } from "./draw";
import { columnsOf, heightOf, layout, WORD } from "./layout";
import { RecordPanel } from "./RecordPanel";
import { useJournals } from "./useJournals";
import "./journals.css";

const WIDTHS = [0.12, 0.25, 0.5, 0.9, 1.6];
const STATES: [CellState, string][] = [
  ["p", "prepared"],
  ["c", "committed"],
  ["a", "applied"],
  ["e", "other epoch"],
  ["x", "missing"],
];

type Cell = { server: string; sn: number };

/** A row for each server, a column for each serial number: what lies in which journal. */
export function Journals() {
  const [zoom, setZoom] = useState(2);
  const [from, setFrom] = useState<number | null>(null);
  const [hover, setHover] = useState<Cell | null>(null);
  const [columns, setColumns] = useState(0);
  const { shown, failed } = useJournals(columns, from);
  const selected = useLab((state) => (state.selection?.kind === "record" ? state.selection : null));
  const pointed = hover ?? selected;
  const [canvas, size] = useCanvas((context, box, palette) => {
    if (shown === null) return;
    const geometry = layout(shown.data, shown.from_sn, shown.to_sn, box.width, box.rem);
    draw(context, box, geometry, pointed, palette);
  });
  const geometry = useMemo(
    () => (shown === null ? null : layout(shown.data, shown.from_sn, shown.to_sn, size.width, size.rem)),
    [shown, size],
  );
  const wanted = size.width === 0 ? 0 : columnsOf(size.width, size.rem, WIDTHS[zoom] ?? 0.5);
  if (wanted !== columns) setColumns(wanted);

  const at = (event: PointerEvent<HTMLCanvasElement>): Cell | null => {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    return geometry?.at(event.clientX - left, event.clientY - top) ?? null;
  };
  const open = (cell: Cell | null): void => {
    if (cell !== null) useLab.setState({ selection: { kind: "record", ...cell } });
  };
  const scroll = (by: number): void => setFrom((old) => Math.max(1, (old ?? shown?.from_sn ?? 1) + by));
  const onKey = (event: KeyboardEvent): void => {
    const { key } = event;
    if (key === "Home") setFrom(1);
    else if (key === "End") setFrom(null);
    else if (key === "PageUp") scroll(-columns);
    else if (key === "PageDown") scroll(columns);
    else if (key === "+" || key === "=") setZoom((old) => Math.min(old + 1, WIDTHS.length - 1));
    else if (key === "-") setZoom((old) => Math.max(old - 1, 0));
    else if (key === "Enter") open(pointed);
    else if (key.startsWith("Arrow")) setHover(moved(pointed, key));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const moved = (cell: Cell | null, key: string): Cell | null => {
    const servers = shown?.data.servers.map(({ name }) => name) ?? [];
    const first = servers[0];
    if (shown === null || first === undefined) return null;
    if (cell === null)
      return { server: first, sn: Math.min(shown.data.commit_sn || shown.to_sn, shown.to_sn) };
    const row = servers.indexOf(cell.server) + (key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0);
    const sn = cell.sn + (key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0);
    return { server: servers[row] ?? cell.server, sn: Math.max(shown.from_sn, Math.min(shown.to_sn, sn)) };
  };

  const inView =
    shown !== null && pointed !== null && pointed.sn >= shown.from_sn && pointed.sn <= shown.to_sn;
  const told = inView ? describe(shown, pointed) : "";
  return (
    <>
      <header className="instrument-head">
        <h2>Journals</h2>
        <span className="legend">
          {STATES.map(([state, name]) => (
            <Key key={state} state={state} name={name} />
          ))}
        </span>
        <span className="zoom">
          {from !== null && (
            <button type="button" className="plain" onClick={() => setFrom(null)}>
              newest
            </button>
          )}
          <button
            type="button"
            className="plain"
            aria-label="Older groups"
            title="Older groups (Page up)"
            onClick={() => scroll(-columns)}
          >
            ◂
          </button>
          <button
            type="button"
            className="plain"
            aria-label="Newer groups"
            title="Newer groups (Page down)"
            onClick={() => scroll(columns)}
          >
            ▸
          </button>
          <button
            type="button"
            className="plain"
            aria-label="Wider columns"
            title="Wider columns (+)"
            onClick={() => setZoom((old) => Math.min(old + 1, WIDTHS.length - 1))}
          >
            +
          </button>
          <button
            type="button"
            className="plain"
            aria-label="Narrower columns"
            title="Narrower columns (−)"
            onClick={() => setZoom((old) => Math.max(old - 1, 0))}
          >
            −
          </button>
        </span>
      </header>
      {failed !== "" && <p className="quiet">{failed}</p>}
      <canvas
        ref={canvas}
        className="journals-canvas"
        style={{ height: `${heightOf(shown?.data.servers.length ?? 4)}rem` }}
        data-testid="journals"
        data-last-sn={shown?.data.last_sn}
        data-commit-sn={shown?.data.commit_sn}
        tabIndex={0}
        role="img"
        aria-label={summary(shown)}
        onKeyDown={onKey}
        onWheel={(event) => {
          if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) scroll(Math.round(event.deltaX / 8));
        }}
        onPointerMove={(event) => setHover(at(event))}
        onPointerLeave={() => setHover(null)}
        onClick={(event) => open(at(event as unknown as PointerEvent<HTMLCanvasElement>))}
      />
      <p className="quiet journals-told" aria-live="polite">
        {told || "Point at a column; a click opens its group."}
      </p>
      {selected !== null && <RecordPanel server={selected.server} sn={selected.sn} />}
    </>
  );
}

function describe(shown: ReturnType<typeof useJournals>["shown"], { server, sn }: Cell): string {
  const row = shown?.data.servers.find(({ name }) => name === server);
  const run = row?.cells.find(([first, last]) => first <= sn && sn <= last);
  if (run === undefined) return `${server}, sn ${sn}: nothing`;
  return `${server}, sn ${sn}${run[2] > 0 ? `, epoch ${run[2]}` : ""}: ${WORD[run[3]]}`;
}

function summary(shown: ReturnType<typeof useJournals>["shown"]): string {
  if (shown === null) return "Journals: nothing yet";
  const ends = shown.data.servers.map(({ name, cells }) => {
    const last = cells.filter((run) => run[3] !== "x").at(-1);
    return `${name} up to ${last?.[1] ?? 0}`;
  });
  return `Journals, groups ${shown.from_sn} to ${shown.to_sn}; committed up to ${shown.data.commit_sn}; ${ends.join(", ")}`;
}

function Key({ state, name }: { state: CellState; name: string }) {
  const [canvas] = useCanvas((context, { width, height, rem }, palette) =>
    drawCell(context, { x: 0, y: 0, width, height }, state, rem, palette),
  );
  return (
    <span className="journals-key" title={WORD[state]}>
      <canvas ref={canvas} />
      {name}
    </span>
  );
}
