import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { shownLanes, shownPicture, useLab, useRunWords } from "../../store/store";
import { colours, isReplicated } from "./colours";

/** Meanings of the dots' colours that this cluster can show. */
export function Legend() {
  const words = useRunWords();
  const replicated = useLab((state) => isReplicated(shownPicture(state), shownLanes(state)));
  const groups = useLab((state) => Object.keys(shownPicture(state).groups).length > 1);
  const dataNodes = useLab((state) => shownLanes(state).some(({ linked }) => linked === "clients"));
  return (
    <ul className="legend" aria-label={t`Messages by colour`}>
      {colours({ replicated, groups, dataNodes }, words).map(([family, label]) => (
        <li key={family}>
          <span className="legend-dot" style={{ background: `var(--dot-${family})` }} />
          {label}
        </li>
      ))}
      <li>
        <span className="legend-dot legend-hollow" />
        <Trans>answer</Trans>
      </li>
    </ul>
  );
}
