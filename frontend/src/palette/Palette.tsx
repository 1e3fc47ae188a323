import { t } from "@lingui/core/macro";
import { type KeyboardEvent, useEffect, useMemo, useState } from "react";
import { useLab, useWords } from "../store/store";
import { Dialog } from "../ui/Dialog";
import { KeyCap } from "../ui/KeyCap";
import { type Command, commandsOf, matching } from "./commands";
import "./palette.css";

const SHOWN_MOST = 12;

/** Opens with Ctrl+K (⌘K) on every page: a few letters find any command. */
export function Palette() {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey) return;
      event.preventDefault();
      setOpen(true);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  return (
    <Dialog opened={open} title={t`Commands`} onClose={() => setOpen(false)}>
      <Search onDone={() => setOpen(false)} />
    </Dialog>
  );
}

function Search({ onDone }: { onDone: () => void }) {
  const { lacks } = useWords();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const commands = useMemo(() => commandsOf(useLab.getState(), lacks), [lacks]);
  const found = matching(commands, text);
  const shown = found.slice(0, SHOWN_MOST);
  const chosen = shown[Math.min(at, shown.length - 1)];
  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    onDone();
    command.run();
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (event.key === "Enter") run(chosen);
    else if (step === 0) return;
    else setAt((Math.min(at, shown.length - 1) + step + shown.length) % Math.max(1, shown.length));
    event.preventDefault();
  };
  return (
    <div className="palette">
      <input
        data-autofocus
        role="combobox"
        aria-label={t`Command`}
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={chosen && `palette-${shown.indexOf(chosen)}`}
        placeholder={t`crash mds1, go to pool, …`}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKey}
      />
      <div role="listbox" id="palette-list" aria-label={t`Commands`}>
        {shown.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above takes the keys
          <div
            key={command.title}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={command === chosen}
            onClick={() => run(command)}
          >
            {command.title}
            {command.key !== "" && <KeyCap>{command.key}</KeyCap>}
          </div>
        ))}
      </div>
      <p className="soft" aria-live="polite">
        {found.length === 0
          ? t`No command has these words.`
          : found.length > SHOWN_MOST
            ? t`${found.length - SHOWN_MOST} more: go on typing`
            : ""}
      </p>
    </div>
  );
}
