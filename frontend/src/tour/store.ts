/** Whether the tour is open. It opens by itself on the first visit, and from the header and the help at any time. */

import { create } from "zustand";

const DISMISSED = "cloverlab-guide-dismissed";

function wasDismissed(): boolean {
  try {
    return localStorage.getItem(DISMISSED) !== null;
  } catch {
    return false;
  }
}

interface TourState {
  open: boolean;
  /** Counts openings: each begins anew. */
  opened: number;
}

export const useTour = create<TourState>()(() => ({ open: !wasDismissed(), opened: 0 }));

export function openTour(): void {
  useTour.setState(({ opened }) => ({ open: true, opened: opened + 1 }));
}

export function closeTour(): void {
  useTour.setState({ open: false });
  try {
    localStorage.setItem(DISMISSED, "yes");
  } catch {
    // The tour appears again when the browser's storage is not available.
  }
}
