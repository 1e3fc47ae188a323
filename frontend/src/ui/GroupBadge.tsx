const COLOURS = 6;

/** Colour of a group, from its position among all groups. */
export function colourOf(groups: readonly string[], name: string): number {
  return (Math.max(0, groups.indexOf(name)) % COLOURS) + 1;
}

/** A group's name and colour. */
export function GroupBadge({ name, groups }: { name: string; groups: readonly string[] }) {
  return (
    <span className="group-badge" data-group={name}>
      <i style={{ background: `var(--group-${colourOf(groups, name)})` }} aria-hidden="true" />
      {name}
    </span>
  );
}
