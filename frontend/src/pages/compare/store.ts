/** The requested comparison, and the one that runs or has ended. */

import { create } from "zustand";
import { api } from "../../api/client";
import type { Choices, Comparison } from "../../api/schema";
import { useLab } from "../../store/store";
import { complain } from "../../store/toasts";
import { proposal, searchOf, type Wish, wishOf } from "./wish";

const LOOK_MS = 250;

interface CompareState {
  choices: Choices | null;
  wish: Wish;
  comparison: Comparison | null;
  /** The request with which the comparison began. */
  begun: Wish | null;
}

export const useCompare = create<CompareState>()(() => ({
  choices: null,
  wish: proposal("mams", 3),
  comparison: null,
  begun: null,
}));

export function isOver({ configurations }: Comparison): boolean {
  return configurations.every(({ state }) => state !== "waiting" && state !== "running");
}

/** Takes over the request of the URL, and reads the choices. */
export async function open(): Promise<void> {
  const asked = wishOf(location.search);
  if (asked !== null) useCompare.setState({ wish: asked });
  try {
    if (asked === null && useLab.getState().compare === "") {
      const { protocol, servers, groups } = useLab.getState().cluster ?? (await api.cluster());
      useCompare.setState({ wish: proposal(protocol, Math.round(servers.length / groups.length) - 1) });
    }
    useCompare.setState({ choices: await api.compareChoices() });
  } catch (error) {
    complain(error);
  }
}

export function change(part: Partial<Wish>): void {
  const wish = { ...useCompare.getState().wish, ...part };
  useCompare.setState({ wish });
  useLab.setState({ compare: searchOf(wish) });
}

export async function begin(): Promise<void> {
  const { wish } = useCompare.getState();
  useLab.setState({ compare: searchOf(wish) });
  try {
    const comparison = await api.compare(wish.scenario, wish.seed, wish.changes);
    useCompare.setState({ comparison, begun: wish });
    await follow(comparison);
  } catch (error) {
    complain(error);
  }
}

/** Polls until the comparison ends, or until another one replaces it. */
async function follow(comparison: Comparison): Promise<void> {
  let now = comparison;
  while (!isOver(now)) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    now = await api.comparison(comparison.comparison);
    if (useCompare.getState().comparison?.comparison !== now.comparison) return;
    useCompare.setState({ comparison: now });
  }
}

export async function cancel(): Promise<void> {
  const { comparison } = useCompare.getState();
  if (comparison === null) return;
  try {
    useCompare.setState({ comparison: await api.cancelComparison(comparison.comparison) });
  } catch (error) {
    complain(error);
  }
}
