import { MantineProvider } from "@mantine/core";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { beginLanguage } from "./language/language";
import { Translated } from "./language/Translated";
import { Page } from "./pages/Page";
import { stream } from "./store/connect";
import { knowMe } from "./store/me";
import { followUrl } from "./store/url";
import { theme } from "./ui/theme";
import "./styles/mantine.css";
import "./styles/index.css";

const root = document.getElementById("root");
if (root === null) throw new Error("the page has no element with the id root");

followUrl();
stream.open();
void knowMe();

await beginLanguage();

createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <Translated>
        <Page />
      </Translated>
    </MantineProvider>
  </StrictMode>,
);
