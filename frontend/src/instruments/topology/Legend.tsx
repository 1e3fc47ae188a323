const ENTRIES = [
  ["call", "calls"],
  ["journal", "journal"],
  ["takeover", "takeover"],
  ["renewing", "renewing"],
  ["view", "view"],
] as const;

/** What the dots' colours mean. */
export function Legend() {
  return (
    <ul className="legend" aria-label="Messages by colour">
      {ENTRIES.map(([family, label]) => (
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
