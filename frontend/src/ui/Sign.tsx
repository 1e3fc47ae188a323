/** Quality of a state; each has a shape of its own besides the colour. */
export type Tone = "held" | "mended" | "waiting" | "broken" | "none";

/** A state as one character on a small square. */
export function Sign({ tone, children }: { tone: Tone; children: string }) {
  return (
    <span className={`sign sign-${tone}`} aria-hidden="true">
      {children}
    </span>
  );
}
