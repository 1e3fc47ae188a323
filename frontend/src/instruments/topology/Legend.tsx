import { useLab } from "../../store/store";

const ENTRIES = [
  ["call", "calls"],
  ["journal", "journal"],
  ["takeover", "takeover"],
  ["renewing", "renewing, images"],
  ["crossing", "between groups"],
  ["view", "view"],
  ["data", "blocks"],
] as const;

/** What the dots' colours mean. */
export function Legend() {
  const several = useLab((state) => Object.keys(state.live.groups).length > 1);
  const stored = useLab((state) => Object.keys(state.live.data_nodes).length > 0);
  const entries = ENTRIES.filter(
    ([family]) => (several || family !== "crossing") && (stored || family !== "data"),
  );
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
