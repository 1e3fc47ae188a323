import { lineOf } from "../api/client";
import { type Toast, useLab } from "./store";

const SHOWN_MS = 7_000;
const MOST = 4;
let next = 1;

/** Shows the result of an action for a while. */
export function toast(text: string, undo: Toast["undo"] = null, tone: Toast["tone"] = "done"): void {
  const id = next++;
  useLab.setState(({ toasts }) => ({ toasts: [...toasts.slice(1 - MOST), { id, text, tone, undo }] }));
  setTimeout(() => dismiss(id), SHOWN_MS);
}

/** Shows an error in the control plane's own line. */
export function complain(error: unknown): void {
  toast(lineOf(error), null, "error");
}

export function dismiss(id: number): void {
  useLab.setState(({ toasts }) => ({ toasts: toasts.filter((each) => each.id !== id) }));
}
