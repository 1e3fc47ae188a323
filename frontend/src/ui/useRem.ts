import { useViewportSize } from "@mantine/hooks";
import { useMemo } from "react";

/** One rem in pixels: type grows with the screen, and so do drawings. */
export function useRem(): number {
  const { width } = useViewportSize();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the root's size follows the screen's width
  return useMemo(() => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16, [width]);
}
