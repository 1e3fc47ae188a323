import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type KeyboardEvent, type PointerEvent, useMemo, useState } from "react";
import type { Vocabulary } from "../../api/schema";
import { useCanvas } from "../../draw/useCanvas";
import { stateWords } from "../../families/vocabulary";
import { useLab, useRunWords } from "../../store/store";
import { draw } from "./draw";
import { GoTo } from "./GoTo";
import { columnsOf, heightOf, layout } from "./layout";
import { RecordPanel } from "./RecordPanel";
import { type Shown, useJournals } from "./useJournals";
import { useOperations } from "./useOperations";

const SERVERS_FIRST = 4;

type Cell = { server: string; sn: number };

interface Props {
  group: string;
  /** Whether the block shows its group's name: only with several groups. */
  named: boolean;
  cell_rem: number;
  onWiden: (steps: number) => void;
}

/** The journals of one replica group, with an axis of their own. */
export function Block({ group, named, cell_rem, onWiden }: Props) {
  const words = useRunWords();
  const [from, setFrom] = useState<number | null>(null);
  const [hover, setHover] = useState<Cell | null>(null);
  const [columns, setColumns] = useState(0);
  const { shown, failed } = useJournals(group, columns, from);
  const selected = useLab((state) =>
    state.selection?.kind === "record" && state.live.servers[state.selection.server]?.group === group
      ? state.selection
      : null,
  );
  const pointed = hover ?? selected;
  const [canvas, size] = useCanvas((context, box, palette) => {
    if (shown === null) return;
    const geometry = layout(shown.data, [shown.from_sn, shown.to_sn], box);
    draw(context, box, geometry, pointed, words.term, palette);
  });
  const geometry = useMemo(
    () => (shown === null ? null : layout(shown.data, [shown.from_sn, shown.to_sn], size)),
    [shown, size],
  );
  const wanted = size.width === 0 ? 0 : columnsOf(size.width, size.rem, cell_rem);
  if (wanted !== columns) setColumns(wanted);

  const { least, most } = heightOf(shown?.data.servers.length ?? SERVERS_FIRST);

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
    else if (key === "+" || key === "=") onWiden(1);
    else if (key === "-") onWiden(-1);
    else if (key === "Enter") open(pointed);
    else if (key.startsWith("Arrow")) setHover(moved(shown, pointed, key));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const inView =
    shown !== null && pointed !== null && pointed.sn >= shown.from_sn && pointed.sn <= shown.to_sn;
  const operations = useOperations(shown?.data ?? null, inView ? hover : null);
  const reported = inView ? [describe(shown, pointed, words), operations].filter(Boolean).join(": ") : "";
  const goTo = (sn: number): void => {
    const last = shown?.data.last_sn ?? sn;
    setFrom(Math.max(1, Math.min(sn, last) - Math.floor(columns / 2)));
    const server = shown?.data.servers[0]?.name;
    if (server !== undefined) setHover({ server, sn: Math.min(sn, last) });
  };
  return (
    <section className="journals-block" aria-label={t`Journals of ${group}`}>
      <div className="journals-line">
        {named && <h3>{group}</h3>}
        <p className="quiet journals-told" aria-live="polite" title={reported}>
          {failed || reported || t`Point at a column; a click opens its ${words.unit}.`}
        </p>
        <span className="zoom">
          <GoTo label={named ? t`go to ${words.place} of ${group}` : t`go to ${words.place}`} onGo={goTo} />
          {from !== null && (
            <button type="button" className="plain" onClick={() => setFrom(null)}>
              <Trans>newest</Trans>
            </button>
          )}
          <button
            type="button"
            className="plain"
            aria-label={t`Older journal groups of ${group}`}
            title={t`Older journal groups (Page up)`}
            onClick={() => scroll(-columns)}
          >
            ◂
          </button>
          <button
            type="button"
            className="plain"
            aria-label={t`Newer journal groups of ${group}`}
            title={t`Newer journal groups (Page down)`}
            onClick={() => scroll(columns)}
          >
            ▸
          </button>
        </span>
      </div>
      <canvas
        ref={canvas}
        className="journals-canvas"
        style={{ flexBasis: `${least}rem`, minHeight: `${least}rem`, maxHeight: `${most}rem` }}
        data-testid="journals"
        data-group={group}
        data-last-sn={shown?.data.last_sn}
        data-commit-sn={shown?.data.commit_sn}
        tabIndex={0}
        role="img"
        aria-label={summary(shown, group, words)}
        onKeyDown={onKey}
        onWheel={(event) => {
          if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) scroll(Math.round(event.deltaX / 8));
        }}
        onPointerMove={(event) => setHover(at(event))}
        onPointerLeave={() => setHover(null)}
        onClick={(event) => open(at(event as unknown as PointerEvent<HTMLCanvasElement>))}
      />
      {selected !== null && <RecordPanel server={selected.server} sn={selected.sn} />}
    </section>
  );
}

/** The cell beside `cell` in the direction of an arrow key, within the visible range. */
function moved(shown: Shown | null, cell: Cell | null, key: string): Cell | null {
  const servers = shown?.data.servers.map(({ name }) => name) ?? [];
  const first = servers[0];
  if (shown === null || first === undefined) return null;
  if (cell === null) return { server: first, sn: Math.min(shown.data.commit_sn || shown.to_sn, shown.to_sn) };
  const row = servers.indexOf(cell.server) + (key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0);
  const sn = cell.sn + (key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0);
  return { server: servers[row] ?? cell.server, sn: Math.max(shown.from_sn, Math.min(shown.to_sn, sn)) };
}

function describe(shown: Shown, { server, sn }: Cell, words: Vocabulary): string {
  const row = shown.data.servers.find(({ name }) => name === server);
  const run = row?.cells.find(([first, last]) => first <= sn && sn <= last);
  if (run === undefined) return t`${server}, ${words.place} ${sn}: nothing`;
  const barrier = shown.data.barriers.find(([at]) => at === sn);
  const of = barrier === undefined ? "" : t`, the barrier of checkpoint ${barrier[1]}`;
  const term = run[2] > 0 ? `, ${words.term} ${run[2]}` : "";
  return `${server}, ${words.place} ${sn}${term}: ${stateWords(words, run[3])}${of}`;
}

function summary(shown: Shown | null, group: string, { place, settled }: Vocabulary): string {
  if (shown === null) return t`Journals of ${group}: nothing yet`;
  const ends = shown.data.servers.map(({ name, cells }) => {
    const last = cells.filter((run) => run[3] !== "x").at(-1);
    return t`${name} up to ${last?.[1] ?? 0}`;
  });
  const marks = shown.data.barriers.map(([sn, name]) => t`; barrier of ${name} at ${place} ${sn}`).join("");
  return t`Journals of ${group}, ${place} ${shown.from_sn} to ${shown.to_sn}; ${settled} up to ${shown.data.commit_sn}; ${ends.join(", ")}${marks}`;
}
