import { type PageName, useLab, useWords } from "../store/store";
import { goTo } from "../store/url";
import { closeTour } from "./store";

const PAGES: readonly (readonly [PageName, string, string])[] = [
  ["namespace", "Namespace", "Make a directory, and see which group keeps it."],
  ["pool", "Storage pool", "Damage an image on a disk, and see the servers repair it from each other."],
  ["checkpoints", "Checkpoints", "Mark this moment, write something, and take the whole cluster back."],
];

/** What to try next, on other pages. */
export function Stories() {
  const { lacks } = useWords();
  const several = useLab((state) => Object.keys(state.live.groups).length > 1);
  return (
    <ul className="tour-stories">
      {PAGES.filter(([page]) => !lacks.includes(page)).map(([page, title, says]) => (
        <li key={page}>
          <button
            type="button"
            className="pill"
            onClick={() => {
              closeTour();
              goTo(page);
            }}
          >
            {title}
          </button>
          {says}
        </li>
      ))}
      {!several && (
        <li>
          <span className="soft">
            Several groups: stop this cluster and start <code>./cloverlab up --groups 2</code>. Each group has
            an active of its own, and one operation may change both.
          </span>
        </li>
      )}
    </ul>
  );
}
