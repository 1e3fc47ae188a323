import { useEffect } from "react";
import { isTyping, ownsSpace, press, selectBeside } from "../actions/keys";
import { layoutOf, shift } from "../store/places";
import { shownPicture, useLab } from "../store/store";

function inDialog(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("dialog") !== null;
}

function arrows(event: KeyboardEvent): boolean {
  const { target } = event;
  const free =
    target === document.body || (target instanceof HTMLElement && target.hasAttribute("data-server-card"));
  if (!free || (event.key !== "ArrowLeft" && event.key !== "ArrowRight")) return false;
  if (event.shiftKey) return false;
  selectBeside(event.key === "ArrowLeft" ? -1 : 1);
  return true;
}

const SHIFTS: Record<string, readonly [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Shift and an arrow move the focused card of a server. */
function moved({ key, shiftKey, target }: KeyboardEvent): boolean {
  const by = SHIFTS[key];
  if (!shiftKey || by === undefined || !(target instanceof HTMLElement)) return false;
  const { servers } = shownPicture(useLab.getState());
  const name = target.id.replace(/^card-/, "");
  if (servers[name] === undefined) return false;
  shift(layoutOf(Object.keys(servers)), name, { x: by[0], y: by[1] });
  return true;
}

/** `?` on the pages whose other keys belong to the focused element. */
export function useHelpKey(show: (shown: boolean) => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { key, target, ctrlKey, metaKey, altKey, defaultPrevented } = event;
      if (key !== "?" || defaultPrevented || ctrlKey || metaKey || altKey) return;
      if (isTyping(target) || inDialog(target)) return;
      show(true);
      event.preventDefault();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [show]);
}

/** The page's keys; text fields, dialogs and the browser's own combinations keep theirs. */
export function useKeys(onHelp: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { key, target } = event;
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      if (isTyping(target) || inDialog(target) || (key === " " && ownsSpace(target))) return;
      if (key === "Escape") useLab.setState({ selection: null, menu: null });
      else if (key === "?") onHelp();
      else if (
        !moved(event) &&
        !arrows(event) &&
        !(key.length === 1 && press(key === " " ? key : key.toLowerCase()))
      )
        return;
      event.preventDefault();
    };
    /** A focused card is a button, but Space freezes and does not press it. */
    const onKeyUp = (event: KeyboardEvent): void => {
      if (
        event.key === " " &&
        event.target instanceof HTMLElement &&
        event.target.hasAttribute("data-server-card")
      )
        event.preventDefault();
    };
    window.addEventListener("keydown", onKey);
    window.addEventListener("keyup", onKeyUp);
    return () => {
      window.removeEventListener("keydown", onKey);
      window.removeEventListener("keyup", onKeyUp);
    };
  }, [onHelp]);
}
