import { plural, t } from "@lingui/core/macro";

interface Props {
  /** Whether the rare kinds are shown now. */
  all: boolean;
  rarer: number;
  testId: string;
  onAll: (all: boolean) => void;
}

/** Shows and hides the kinds that are too rare for the first view of a table. */
export function RarerKinds({ all, rarer, testId, onAll }: Props) {
  return (
    <button
      type="button"
      className="plain"
      aria-expanded={all}
      data-testid={testId}
      onClick={() => onAll(!all)}
    >
      {all ? t`Fewer kinds` : plural(rarer, { one: "# rarer kind", other: "# rarer kinds" })}
    </button>
  );
}
