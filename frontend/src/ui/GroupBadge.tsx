const COLOURS = 6;

/** Which of the colours a group has, by its place among all groups. */
export function colourOf(groups: readonly string[], name: string): number {
  return (Math.max(0, groups.indexOf(name)) % COLOURS) + 1;
}

/** A group by name, and by a colour besides. */
export function GroupBadge({ name, groups }: { name: string; groups: readonly string[] }) {
  return (
    <span className="group-badge" data-group={name}>
      <i style={{ background: `var(--group-${colourOf(groups, name)})` }} aria-hidden="true" />
      {name}
    </span>
  );
}
