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

const element = document.getElementById("root");
if (element === null) throw new Error("the page has no element with the id root");
const root = createRoot(element);

followUrl();
stream.open();
void knowMe();

void beginLanguage().then(() =>
  root.render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto">
        <Translated>
          <Page />
        </Translated>
      </MantineProvider>
    </StrictMode>,
  ),
);
