import { create } from "zustand";

/** Whether the menu of what to go on until is open. */
export const useUntilMenu = create(() => ({ opened: false }));

export function openUntil(opened = true): void {
  useUntilMenu.setState({ opened });
}
