import { useEffect, useState } from "react";
import type { Link } from "../../api/schema";
import { clock, messages } from "../../store/store";
import { NS_PER_MS } from "../../store/time";
import type { LinkShape } from "./layout";
import { carrying, keyOf, stateOf } from "./rules";

const LOOK_MS = 250;
const SHOWN_MS = 2_000;
const LOOK_BACK = 500;

/** The bridges to draw: those with recent messages, and those with faults. */
export function useBridges(
  bridges: readonly LinkShape[],
  links: readonly Link[],
  moving: boolean,
): LinkShape[] {
  const [busy, setBusy] = useState("");
  useEffect(() => {
    if (!moving || bridges.length === 0) return setBusy("");
    const look = (): void => {
      const since_ns = clock.now_ns() - SHOWN_MS * NS_PER_MS;
      setBusy(carrying(bridges, messages.from(messages.length - LOOK_BACK), since_ns).join());
    };
    look();
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, [bridges, moving]);
  const shown = busy.split(",");
  return bridges.filter(
    (shape) => shown.includes(keyOf(shape)) || stateOf(links, shape.a, shape.b).kind !== "open",
  );
}
