/** Marks of each configuration on the whole page: number, colour and dash. */

export const DASHES = ["", "8 4", "2 3", "9 3 2 3"];

export function colourOf(index: number): string {
  return `var(--group-${index + 1})`;
}

export function Series({ index, label }: { index: number; label: string }) {
  return (
    <span className="series">
      <svg viewBox="0 0 34 16" width="2.2rem" height="1rem" aria-hidden="true">
        <line
          x1="0"
          x2="34"
          y1="8"
          y2="8"
          stroke={colourOf(index)}
          strokeWidth="3"
          strokeDasharray={DASHES[index]}
        />
      </svg>
      <b className="series-number">{index + 1}</b> <span className="series-label">{label}</span>
    </span>
  );
}
