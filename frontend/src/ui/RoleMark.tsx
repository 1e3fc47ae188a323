import type { Letter, Role } from "../api/types";

const LETTERS: Record<Role, Letter> = { active: "A", standby: "S", junior: "J", down: "-" };

export function letterOf(role: Role): Letter {
  return LETTERS[role];
}

/** A role by letter and shape, colour only besides: a ringed disc, a square, a triangle, an empty ring. */
export function RoleMark({ role, size = "3.6rem" }: { role: Role; size?: string }) {
  return (
    <svg className={`mark mark-${role}`} viewBox="0 0 48 48" width={size} height={size} aria-hidden="true">
      {role === "active" && (
        <>
          <circle className="mark-ring" cx="24" cy="24" r="22.5" />
          <circle className="mark-fill" cx="24" cy="24" r="18.5" />
        </>
      )}
      {role === "standby" && <rect className="mark-fill" x="5" y="5" width="38" height="38" rx="9" />}
      {role === "junior" && (
        <path className="mark-fill" d="M24 3.5 45.5 43a1.6 1.6 0 0 1-1.4 2.4H3.9A1.6 1.6 0 0 1 2.5 43Z" />
      )}
      {role === "down" && <circle className="mark-hollow" cx="24" cy="24" r="20" />}
      <text
        x="24"
        y={role === "junior" ? 40 : 33.5}
        textAnchor="middle"
        fontSize={role === "junior" ? 22 : 27}
      >
        {role === "down" ? "–" : LETTERS[role]}
      </text>
    </svg>
  );
}
