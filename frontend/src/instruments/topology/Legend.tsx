import { useLab, useWords } from "../../store/store";

/** What the dots' colours mean. */
export function Legend() {
  const { messages } = useWords();
  const several = useLab((state) => Object.keys(state.live.groups).length > 1);
  const stored = useLab((state) => Object.keys(state.live.data_nodes).length > 0);
  const entries: (readonly [family: string, label: string])[] = [
    ["call", "calls"],
    ["journal", "journal"],
    ["takeover", messages.takeover],
    ["renewing", messages.renewing],
    ...(several ? [["crossing", "between groups"] as const] : []),
    ["view", messages.view],
    ...(stored ? [["data", "blocks"] as const] : []),
  ];
  return (
    <ul className="legend" aria-label="Messages by colour">
      {entries.map(([family, label]) => (
        <li key={family}>
          <span className="legend-dot" style={{ background: `var(--dot-${family})` }} />
          {label}
        </li>
      ))}
      <li>
        <span className="legend-dot legend-hollow" />
        answer
      </li>
    </ul>
  );
}
