import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type PageName, useLab, useWords } from "../store/store";
import { goTo } from "../store/url";
import { closeTour } from "./store";

const PAGES: readonly (readonly [PageName, MessageDescriptor, MessageDescriptor])[] = [
  ["namespace", msg`Namespace`, msg`Make a directory, and see which group keeps it.`],
  ["pool", msg`Storage pool`, msg`Damage an image on a disk, and see the servers repair it from each other.`],
  ["checkpoints", msg`Checkpoints`, msg`Mark this moment, write something, and take the whole cluster back.`],
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
            {i18n._(title)}
          </button>
          {i18n._(says)}
        </li>
      ))}
      {!several && (
        <li>
          <span className="soft">
            <Trans>
              Several groups: stop this cluster and start <code>./cloverlab up --groups 2</code>. Each group
              has an active of its own, and one operation may change both.
            </Trans>
          </span>
        </li>
      )}
    </ul>
  );
}
