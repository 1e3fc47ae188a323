import { useViewportSize } from "@mantine/hooks";
import { useMemo } from "react";

/** One rem in pixels: type and drawings grow with the screen. */
export function useRem(): number {
  const { width, height } = useViewportSize();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the root's size follows the screen
  return useMemo(
    () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16,
    [width, height],
  );
}
