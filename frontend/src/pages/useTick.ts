import { useEffect, useState } from "react";
import { clock } from "../store/store";

const TICK_MS = 100;

/** The cluster's clock, read ten times a second while `runs`. */
export function useTick(runs: boolean): number {
  const [, tick] = useState(0);
  useEffect(() => {
    if (!runs) return;
    const timer = setInterval(() => tick((count) => count + 1), TICK_MS);
    return () => clearInterval(timer);
  }, [runs]);
  return clock.now_ns();
}
