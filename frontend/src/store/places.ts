/** Where a person has dragged the cards, by layout: kept in the browser, apart from the cluster. */

import { create } from "zustand";

export interface Shift {
  /** In rem, from the place that the layout gives. */
  x: number;
  y: number;
}

export type Shifts = Readonly<Record<string, Shift>>;

const KEPT = "cloverlab-places";
const NONE: Shifts = {};

function kept(): Record<string, Shifts> {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "{}") as Record<string, Shifts>;
  } catch {
    return {};
  }
}

export const usePlaces = create<{ of: Record<string, Shifts> }>()(() => ({ of: kept() }));

/** The layout of these servers: another set of servers has places of its own. */
export function layoutOf(servers: readonly string[]): string {
  return servers.toSorted().join(" ");
}

export function shiftsOf(of: Record<string, Shifts>, layout: string): Shifts {
  return of[layout] ?? NONE;
}

function keep(of: Record<string, Shifts>): void {
  usePlaces.setState({ of });
  try {
    localStorage.setItem(KEPT, JSON.stringify(of));
  } catch {
    // Without the browser's storage the places last until the page is left.
  }
}

/** Moves a card by this much from where it is. */
export function shift(layout: string, name: string, { x, y }: Shift): void {
  const { of } = usePlaces.getState();
  const own = shiftsOf(of, layout);
  const before = own[name] ?? { x: 0, y: 0 };
  keep({ ...of, [layout]: { ...own, [name]: { x: before.x + x, y: before.y + y } } });
}

/** All cards of the layout return to their places. */
export function reset(layout: string): void {
  const { [layout]: _, ...others } = usePlaces.getState().of;
  keep(others);
}
