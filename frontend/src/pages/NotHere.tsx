import { useWords } from "../store/store";
import { Toasts } from "../ui/Toasts";
import { Header } from "./Header";

/** Shown at a URL of a page that the family does not have. */
export function NotHere() {
  const { called } = useWords();
  return (
    <div className="page">
      <Header />
      <main className="panel" data-testid="not-here">
        <h2>This protocol has no checkpoints</h2>
        <p>Servers of {called} mark no checkpoints. Other protocols do.</p>
      </main>
      <Toasts />
    </div>
  );
}
