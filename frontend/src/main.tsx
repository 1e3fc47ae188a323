import { createTheme, MantineProvider, Title } from "@mantine/core";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "@mantine/core/styles.css";

const root = document.getElementById("root");
if (root === null) throw new Error("the page has no element with the id root");

createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={createTheme({})} defaultColorScheme="auto">
      <Title>Cloverlab</Title>
    </MantineProvider>
  </StrictMode>,
);
