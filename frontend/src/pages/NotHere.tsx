import { useWords } from "../store/store";
import { Frame } from "./Frame";

/** Shown at a URL of a page that the family does not have. */
export function NotHere() {
  const { called } = useWords();
  return (
    <Frame>
      <main className="panel" data-testid="not-here">
        <h2>This protocol has no checkpoints</h2>
        <p>Servers of {called} mark no checkpoints. Other protocols do.</p>
      </main>
    </Frame>
  );
}
