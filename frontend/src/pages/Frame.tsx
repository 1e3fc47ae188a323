import { type ReactNode, useState } from "react";
import { LookingBanner } from "../actions/LookingLine";
import { Palette } from "../palette/Palette";
import { Toasts } from "../ui/Toasts";
import { Banner } from "./Banner";
import { Header } from "./Header";
import { Help } from "./Help";
import { useHelpKey } from "./useKeys";

/** The frame of a page: header, banner, help and toasts around its content. */
export function Frame({ children }: { children: ReactNode }) {
  const [help, setHelp] = useState(false);
  useHelpKey(setHelp);
  return (
    <div className="page">
      <Header onHelp={() => setHelp(true)} />
      <LookingBanner />
      <Banner />
      {children}
      <Help opened={help} onClose={() => setHelp(false)} />
      <Palette />
      <Toasts />
    </div>
  );
}
