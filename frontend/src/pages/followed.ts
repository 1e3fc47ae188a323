import type { MouseEvent } from "react";

/** Follows a link within the page; a click with a modifier key opens a new tab as usual. */
export function followed(go: () => void) {
  return (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go();
  };
}
