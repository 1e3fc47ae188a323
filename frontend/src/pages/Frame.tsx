import type { ReactNode } from "react";
import { Toasts } from "../ui/Toasts";
import { Banner } from "./Banner";
import { Header } from "./Header";

/** The frame of a page: header, banner and toasts around its content. */
export function Frame({ children }: { children: ReactNode }) {
  return (
    <div className="page">
      <Header />
      <Banner />
      {children}
      <Toasts />
    </div>
  );
}
