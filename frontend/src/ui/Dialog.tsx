import { t } from "@lingui/core/macro";
import { type ReactNode, useEffect, useRef } from "react";

interface Props {
  opened: boolean;
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** A modal dialog: the browser keeps the focus inside, and Escape closes it. The focus begins on what has `data-autofocus`, if anything has. */
export function Dialog({ opened, title, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (!opened) return dialog.current?.close();
    dialog.current?.showModal();
    dialog.current?.querySelector<HTMLElement>("[data-autofocus]")?.focus();
  }, [opened]);
  /** The browser emits "close" after closing; by then the next question may be open here. */
  const onClosed = (): void => {
    if (dialog.current?.open === false) onClose();
  };
  return (
    <dialog
      ref={dialog}
      className="dialog"
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClose={onClosed}
      onPointerDown={(event) => event.target === dialog.current && onClose()}
    >
      {opened && (
        <div className="dialog-body">
          <div className="dialog-head">
            <h2>{title}</h2>
            <button type="button" className="plain" aria-label={t`Close`} onClick={onClose}>
              ✕
            </button>
          </div>
          {children}
        </div>
      )}
    </dialog>
  );
}
