import { Trans } from "@lingui/react/macro";
import { useWords } from "../store/store";
import { Frame } from "./Frame";

/** Shown at a URL of a page that the family does not have. */
export function NotHere() {
  const { called } = useWords();
  return (
    <Frame>
      <main className="panel" data-testid="not-here">
        <h2>
          <Trans>This protocol has no checkpoints</Trans>
        </h2>
        <p>
          <Trans>Servers of {called} mark no checkpoints. Other protocols do.</Trans>
        </p>
      </main>
    </Frame>
  );
}
