import type { MouseEvent } from "react";
import { type PageName, useLab } from "../store/store";
import { addressOf, goTo } from "../store/url";

const PAGES: [PageName, string][] = [
  ["cluster", "Cluster"],
  ["namespace", "Namespace"],
];

/** The ways to the other pages; a click with a key held opens another tab as everywhere. */
export function PageLinks() {
  const page = useLab((state) => state.page);
  const follow = (event: MouseEvent, name: PageName): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    goTo(name);
  };
  return (
    <nav className="page-links" aria-label="Pages">
      {PAGES.map(([name, label]) => (
        <a
          key={name}
          href={addressOf(name, useLab.getState())}
          aria-current={name === page ? "page" : undefined}
          data-testid={`page-${name}`}
          onClick={(event) => follow(event, name)}
        >
          {label}
        </a>
      ))}
    </nav>
  );
}
