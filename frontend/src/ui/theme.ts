import { createTheme, type MantineColorsTuple } from "@mantine/core";

const clover: MantineColorsTuple = [
  "#e8f6ee",
  "#cfeadb",
  "#a3d6b9",
  "#73c095",
  "#4aab76",
  "#2c965e",
  "#1c8350",
  "#146c43",
  "#0f5836",
  "#084328",
];

/** Greys with a touch of the brand's green, lightest first. */
const dark: MantineColorsTuple = [
  "#ecf2ee",
  "#c9d3cd",
  "#a8b6ae",
  "#77857d",
  "#2b3631",
  "#222b27",
  "#161d1a",
  "#0d1210",
  "#0a0e0c",
  "#070a09",
];

export const theme = createTheme({
  primaryColor: "clover",
  primaryShade: { light: 7, dark: 4 },
  autoContrast: true,
  colors: { clover, dark },
  fontFamily: "var(--font)",
  fontFamilyMonospace: "var(--font-mono)",
  defaultRadius: "md",
  cursorType: "pointer",
  respectReducedMotion: true,
});
