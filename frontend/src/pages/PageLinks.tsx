import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { useEffect, useRef } from "react";
import { isOpen, PAGES } from "../store/pages";
import { type PageName, useLab, useWords } from "../store/store";
import { addressOf, goTo } from "../store/url";
import { followed } from "./followed";

/** Links to the other pages; a click with a modifier key opens a new tab as usual. */
export function PageLinks() {
  const page = useLab((state) => state.page);
  const student = useLab((state) => state.student);
  const { lacks } = useWords();
  return (
    <nav className="page-links" aria-label={t`Pages`}>
      {PAGES.filter(([name]) => name === page || isOpen(name, student, lacks)).map(([name, label]) => (
        <PageLink key={name} name={name} label={i18n._(label)} current={name === page} />
      ))}
    </nav>
  );
}

function PageLink({ name, label, current }: { name: PageName; label: string; current: boolean }) {
  const address = useLab((state) => addressOf(name, state));
  const here = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (current) here.current?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [current]);
  return (
    <a
      ref={here}
      href={address}
      aria-current={current ? "page" : undefined}
      data-testid={`page-${name}`}
      onClick={followed(() => goTo(name))}
    >
      {label}
    </a>
  );
}
