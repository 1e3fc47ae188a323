/** Waiting for a condition on real servers, whose clock cannot be stopped. */

import { t } from "@lingui/core/macro";
import { create } from "zustand";
import { ApiError, api } from "../../api/client";
import { complain } from "../../store/toasts";

const ASK_MS = 250;

export interface Waiting {
  text: string;
  /** When it held first, on the cluster's clock, and after how long; null while it does not. */
  held: { at_ns: number; after_ms: number } | null;
}

export const useWaiting = create<{ waiting: Waiting | null }>()(() => ({ waiting: null }));

let asked = new AbortController();

/** Forgets what is waited for. */
export function stopWaiting(): void {
  asked.abort();
  useWaiting.setState({ waiting: null });
}

/** Begins to wait in place of an earlier wait. Throws for what is no condition, or holds already. */
export async function waitUntil(text: string): Promise<void> {
  const now = await api.conditionNow(text);
  if (now.holds) throw new Error(t`holds already: ${text}`);
  stopWaiting();
  asked = new AbortController();
  useWaiting.setState({ waiting: { text, held: null } });
  void follow(text, performance.now(), asked.signal);
}

async function follow(text: string, since_ms: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const { holds, at_ns } = await api.conditionNow(text, signal);
      if (holds && !signal.aborted) {
        const held = { at_ns, after_ms: performance.now() - since_ms };
        useWaiting.setState({ waiting: { text, held } });
        return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isAway(error)) {
        stopWaiting();
        complain(error);
      }
    }
    await new Promise((resolve) => setTimeout(resolve, ASK_MS));
  }
}

/** A control plane that starts again is waited for, too. */
function isAway(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status === 503);
}
