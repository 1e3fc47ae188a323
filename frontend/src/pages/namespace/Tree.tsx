import { t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { type KeyboardEvent, useEffect, useMemo, useRef } from "react";
import { useShallow } from "zustand/react/shallow";
import { isConnected, useLab } from "../../store/store";
import { formatBytes } from "../../ui/bytes";
import { GroupBadge } from "../../ui/GroupBadge";
import { actOfKey, beginAct } from "./acts";
import { again, againAll, more, point, setOpen, useTree } from "./store";
import { moved, ROOT, type Row, rowsOf } from "./tree";

/** Effect of Enter or a click on a row: opens or closes it, reads more, or tries again. */
function press(row: Row): void {
  if (row.kind === "more") void more(row.path);
  else if (row.kind === "failed") void again(row.path);
  else if (row.kind === "object" && row.open !== null) setOpen(row.path, !row.open);
}

/** The tree, for mouse and keyboard. */
export function Tree() {
  const { dirs, opened, current } = useTree();
  const groups = useLab(useShallow((state) => Object.keys(state.live.groups)));
  const connected = useLab(isConnected);
  const rows = useMemo(() => rowsOf(dirs, opened), [dirs, opened]);
  const focused = useRef<HTMLDivElement>(null);
  const inside = useRef(false);
  const at = rows.some(({ id }) => id === current) ? current : ROOT;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the focus follows what is pointed at
  useEffect(() => {
    focused.current?.scrollIntoView({ block: "nearest" });
    if (inside.current) focused.current?.focus({ preventScroll: true });
  }, [at]);

  useEffect(() => {
    if (document.activeElement === document.body) focused.current?.focus({ preventScroll: true });
  }, []);

  const onKey = (event: KeyboardEvent): void => {
    const row = rows.find(({ id }) => id === at);
    const { key } = event;
    if (row === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = actOfKey(key);
    if (key === "Enter" || key === " ") press(row);
    else if (key === "ArrowRight" && row.kind === "object" && row.open === false) setOpen(row.path, true);
    else if (key === "ArrowLeft" && row.kind === "object" && row.open === true) setOpen(row.path, false);
    else if (key.startsWith("Arrow") || key === "Home" || key === "End") point(moved(rows, at, key));
    else if (key.toLowerCase() === "u") againAll();
    else if (key.toLowerCase() === "g")
      document.querySelector<HTMLElement>("[data-testid=download]")?.click();
    else if (act !== null) beginAct(act);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div
      className="tree"
      role="tree"
      aria-label={t`Names`}
      data-testid="tree"
      data-connected={connected}
      onKeyDown={onKey}
      onFocus={() => {
        inside.current = true;
      }}
      onBlur={() => {
        inside.current = false;
      }}
    >
      {rows.map((row) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the tree as a whole takes the keys
        <div
          key={row.id}
          ref={row.id === at ? focused : null}
          role="treeitem"
          aria-level={row.depth}
          aria-selected={row.id === at}
          aria-expanded={row.kind === "object" && row.open !== null ? row.open : undefined}
          aria-disabled={row.kind === "asking" || row.kind === "empty" || undefined}
          tabIndex={row.id === at ? 0 : -1}
          className={`tree-row tree-${row.kind}`}
          style={{ paddingLeft: `${(row.depth - 1) * 1.35 + 0.5}rem` }}
          data-testid={row.kind === "object" ? `name-${row.path}` : `${row.kind}-${row.path}`}
          onClick={() => {
            if (row.kind === "asking" || row.kind === "empty") return;
            point(row.id);
            press(row);
          }}
        >
          {row.kind === "object" ? <Named row={row} groups={groups} /> : <span>{wordsOf(row)}</span>}
        </div>
      ))}
    </div>
  );
}

function wordsOf(row: Exclude<Row, { kind: "object" }>): string {
  return row.kind === "failed" ? t`${row.words}. Try again` : row.words;
}

function Named({ row, groups }: { row: Extract<Row, { kind: "object" }>; groups: readonly string[] }) {
  const { entry, open, home, path } = row;
  return (
    <>
      <span className="tree-twist" aria-hidden="true">
        {open === null ? "" : open ? "▾" : "▸"}
      </span>
      <span className={open === null ? "tree-file" : "tree-directory"}>
        {path === ROOT ? "/" : entry?.name}
      </span>
      {entry !== null && entry.entries > 0 && (
        <span className="soft figures">
          <Plural value={entry.entries} one="# name" other="# names" />
        </span>
      )}
      {entry !== null && entry.kind === "file" && entry.length > 0 && (
        <span className="soft figures">{formatBytes(entry.length)}</span>
      )}
      <span className="tree-space" />
      {entry?.branch_point && (
        <span className="branch-point" title={t`This name leads to an object of another group`}>
          <svg viewBox="0 0 12 12" width="0.8rem" height="0.8rem" aria-hidden="true">
            <path d="M3 11V1M3 7C3 4 9 5 9 1" />
          </svg>
          <span className="branch-words">
            <Trans>branch point</Trans>
          </span>
        </span>
      )}
      {home !== "" && <GroupBadge name={home} groups={groups} />}
    </>
  );
}
