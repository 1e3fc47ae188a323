import type { ReactNode } from "react";
import { useLab } from "../../store/store";
import { addressOf, openPaper } from "../../store/url";
import { followed } from "../followed";

/** A link to a mechanism or an experiment, or to the list of papers for an empty name. */
export function PaperLink({
  to,
  className,
  children,
}: {
  to: string;
  className?: string;
  children: ReactNode;
}) {
  const address = useLab((state) => addressOf("papers", { ...state, paper: to }));
  return (
    <a href={address} className={className} onClick={followed(() => openPaper(to))}>
      {children}
    </a>
  );
}
