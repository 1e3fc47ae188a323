import { t } from "@lingui/core/macro";
import { useLab } from "../store/store";
import { dismiss } from "../store/toasts";

/** Results and errors of actions, with an undo where there is one. */
export function Toasts() {
  const toasts = useLab((state) => state.toasts);
  return (
    <section className="toasts" aria-live="polite" aria-label={t`What was done`}>
      {toasts.map(({ id, text, tone, undo }) => (
        <div key={id} className={`toast toast-${tone}`} data-testid={`toast-${tone}`}>
          <span className="toast-sign" aria-hidden="true">
            {tone === "error" ? "!" : "✓"}
          </span>
          <p>{text}</p>
          {undo !== null && (
            <button
              type="button"
              className="toast-undo"
              onClick={() => {
                undo.run();
                dismiss(id);
              }}
            >
              {undo.label}
            </button>
          )}
          <button type="button" className="plain" aria-label={t`Close this note`} onClick={() => dismiss(id)}>
            ✕
          </button>
        </div>
      ))}
    </section>
  );
}
