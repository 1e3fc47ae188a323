import { type FormEvent, useState } from "react";
import { count } from "../../store/time";
import { complain } from "../../store/toasts";
import { Dialog } from "../../ui/Dialog";
import { Failed } from "../../ui/Failed";
import { TextField } from "../../ui/TextField";
import { useAttempt } from "../../ui/useAttempt";
import { PUTS, type Target, useAct } from "./acts";
import { createFile, makeDirectory, remove, rename } from "./store";
import { UploadForm } from "./UploadForm";

const TITLES: Record<Target["act"], string> = {
  make: "New directory",
  create: "New empty file",
  upload: "Upload a file",
  rename: "Rename or move",
  delete: "Delete",
};

/** Sets the focus when the dialog opens: the browser needs the attribute, which React does not write. */
function first(element: HTMLElement | null): void {
  element?.setAttribute("autofocus", "");
}

function close(): void {
  useAct.setState({ target: null });
  requestAnimationFrame(() => document.querySelector<HTMLElement>("[role=treeitem][tabindex='0']")?.focus());
}

/** Requests the input of an action, shows its effect, and shows an error without closing. */
export function ActDialog() {
  const target = useAct((state) => state.target);
  return (
    <Dialog opened={target !== null} title={target === null ? "" : TITLES[target.act]} onClose={close}>
      {target?.act === "upload" && <UploadForm key={target.path} directory={target.path} onClose={close} />}
      {target !== null && target.act !== "upload" && (
        <ActForm key={`${target.act} ${target.path}`} target={target} />
      )}
    </Dialog>
  );
}

/** The effect in one sentence. */
export function consequence({ act, path, directory, entries, home }: Target): string {
  if (PUTS.has(act))
    return `Created in ${path}, which group ${home} keeps. The placement rule decides which group keeps the new object.`;
  if (act === "rename") return `${path} gets another name or directory; its home stays ${home}.`;
  const of = home === "" ? "" : ` of ${home}`;
  if (!directory) return `Deletes the file ${path}${of}. It cannot be undone.`;
  if (entries === 0) return `Deletes the empty directory ${path}${of}. It cannot be undone.`;
  const names = entries === 1 ? "1 name" : `${count(entries)} names`;
  return `Deletes the directory ${path}${of} with the ${names} in it and everything below, in every home group. It cannot be undone.`;
}

function ActForm({ target }: { target: Target }) {
  const { act, path, directory } = target;
  const [text, setText] = useState(act === "rename" ? path : "");
  const { busy, failed, setFailed, attempt } = useAttempt();
  const wrong =
    PUTS.has(act) && (text === "" || text.includes("/"))
      ? "A name without a slash"
      : act === "rename" && (!text.startsWith("/") || text === path)
        ? "Another path, from the root"
        : "";
  /** The dialog may have closed while the groups were loading. */
  const isOpen = (): boolean => useAct.getState().target === target;
  const perform = async (): Promise<void> => {
    try {
      if (act === "make") await makeDirectory(path, text);
      else if (act === "create") await createFile(path, text);
      else if (act === "rename") await rename(path, text);
      else await remove(path, directory);
      if (isOpen()) close();
    } catch (error) {
      if (isOpen()) throw error;
      complain(error);
    }
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (wrong !== "") setFailed(wrong);
    else void attempt(perform);
  };
  return (
    <form className="act-form" onSubmit={submit} data-testid={`form-${act}`}>
      <p>{consequence(target)}</p>
      {act !== "delete" && (
        <TextField label={PUTS.has(act) ? "Name" : "New path"} ref={first} value={text} onChange={setText} />
      )}
      <Failed why={failed} testId="act-failed" />
      <div className="act-buttons">
        <button type="button" className="pill" ref={act === "delete" ? first : null} onClick={close}>
          Leave it
        </button>
        <button
          type="submit"
          className={act === "delete" ? "primary danger" : "primary"}
          disabled={busy}
          data-testid={`do-${act}`}
        >
          {busy ? "Waiting for the groups…" : act === "delete" ? `Delete ${path}` : TITLES[act]}
        </button>
      </div>
    </form>
  );
}
