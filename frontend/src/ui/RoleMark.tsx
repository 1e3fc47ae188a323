import { LETTERS, type Role } from "../api/schema";
import { ROLES } from "../families/roles";

/** A role as letter and shape, with a colour besides: a ringed disc, a hexagon, a square, a triangle, an empty ring. */
export function RoleMark({ role, size = "3.6rem" }: { role: Role; size?: string }) {
  const { shape, tone } = ROLES[role];
  const letter = LETTERS[role];
  const low = shape === "triangle";
  return (
    <svg className={`mark mark-${tone}`} viewBox="0 0 48 48" width={size} height={size} aria-hidden="true">
      {shape === "ring" && (
        <>
          <circle className="mark-ring" cx="24" cy="24" r="22.5" />
          <circle className="mark-fill" cx="24" cy="24" r="18.5" />
        </>
      )}
      {shape === "hexagon" && <path className="mark-fill" d="M13 3.5H35L46.5 24 35 44.5H13L1.5 24Z" />}
      {shape === "square" && <rect className="mark-fill" x="5" y="5" width="38" height="38" rx="9" />}
      {low && (
        <path className="mark-fill" d="M24 3.5 45.5 43a1.6 1.6 0 0 1-1.4 2.4H3.9A1.6 1.6 0 0 1 2.5 43Z" />
      )}
      {shape === "hollow" && <circle className="mark-hollow" cx="24" cy="24" r="20" />}
      <text x="24" y={low ? 40 : 33.5} textAnchor="middle" fontSize={low ? 22 : 27}>
        {letter === "-" ? "–" : letter}
      </text>
    </svg>
  );
}
