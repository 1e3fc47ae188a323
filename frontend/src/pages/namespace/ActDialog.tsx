import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
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

const TITLES: Record<Target["act"], MessageDescriptor> = {
  make: msg`New directory`,
  create: msg`New empty file`,
  upload: msg`Upload a file`,
  rename: msg`Rename or move`,
  delete: msg`Delete`,
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
    <Dialog
      opened={target !== null}
      title={target === null ? "" : i18n._(TITLES[target.act])}
      onClose={close}
    >
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
    return t`Created in ${path}, which group ${home} keeps. The placement rule decides which group keeps the new object.`;
  if (act === "rename") return t`${path} gets another name or directory; its home stays ${home}.`;
  if (!directory)
    return home === ""
      ? t`Deletes the file ${path}. It cannot be undone.`
      : t`Deletes the file ${path} of ${home}. It cannot be undone.`;
  if (entries === 0)
    return home === ""
      ? t`Deletes the empty directory ${path}. It cannot be undone.`
      : t`Deletes the empty directory ${path} of ${home}. It cannot be undone.`;
  const names = plural(entries, { one: `1 name`, other: `${count(entries)} names` });
  return home === ""
    ? t`Deletes the directory ${path} with the ${names} in it and everything below, in every home group. It cannot be undone.`
    : t`Deletes the directory ${path} of ${home} with the ${names} in it and everything below, in every home group. It cannot be undone.`;
}

function ActForm({ target }: { target: Target }) {
  const { act, path, directory } = target;
  const [text, setText] = useState(act === "rename" ? path : "");
  const { busy, failed, setFailed, attempt } = useAttempt();
  const wrong =
    PUTS.has(act) && (text === "" || text.includes("/"))
      ? t`A name without a slash`
      : act === "rename" && (!text.startsWith("/") || text === path)
        ? t`Another path, from the root`
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
        <TextField
          label={PUTS.has(act) ? t`Name` : t`New path`}
          ref={first}
          value={text}
          onChange={setText}
        />
      )}
      <Failed why={failed} testId="act-failed" />
      <div className="act-buttons">
        <button type="button" className="pill" ref={act === "delete" ? first : null} onClick={close}>
          <Trans>Leave it</Trans>
        </button>
        <button
          type="submit"
          className={act === "delete" ? "primary danger" : "primary"}
          disabled={busy}
          data-testid={`do-${act}`}
        >
          {busy ? t`Waiting for the groups…` : act === "delete" ? t`Delete ${path}` : i18n._(TITLES[act])}
        </button>
      </div>
    </form>
  );
}
