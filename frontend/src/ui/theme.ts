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

export const theme = createTheme({
  primaryColor: "clover",
  primaryShade: { light: 7, dark: 4 },
  autoContrast: true,
  colors: { clover },
  fontFamily: "var(--font)",
  fontFamilyMonospace: "var(--font-mono)",
  defaultRadius: "md",
  cursorType: "pointer",
  respectReducedMotion: true,
});
