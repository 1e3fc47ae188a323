import { useWords } from "../store/store";
import { Toasts } from "../ui/Toasts";
import { Header } from "./Header";

/** Where a URL leads to what the family does not have. */
export function NotHere() {
  const { called } = useWords();
  return (
    <div className="page">
      <Header />
      <main className="panel" data-testid="not-here">
        <h2>Nothing to see in this family</h2>
        <p>
          The servers of this family, {called}, write no images and mark no checkpoints: one that comes back
          gets what it lacks of the journal. Other families have both.
        </p>
      </main>
      <Toasts />
    </div>
  );
}
