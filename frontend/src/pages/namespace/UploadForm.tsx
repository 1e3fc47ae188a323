import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { lineOf } from "../../api/client";
import { formatBytes } from "../../ui/bytes";
import { Failed } from "../../ui/Failed";
import { TextField } from "../../ui/TextField";
import { uploadFile } from "./store";

/** Largest file that the control plane accepts. */
const BYTES_MOST = 2 ** 36;

/** Upload of a local file under a name, with its progress; it can be cancelled. */
export function UploadForm({ directory, onClose }: { directory: string; onClose: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [name, setName] = useState("");
  const [share, setShare] = useState<number | null>(null);
  const [failed, setFailed] = useState("");
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const choose = (chosen: File | null): void => {
    setFile(chosen);
    if (chosen !== null) setName(chosen.name);
  };
  const wrong =
    file === null
      ? t`Choose a file`
      : name === "" || name.includes("/")
        ? t`A name without a slash`
        : file.size > BYTES_MOST
          ? t`${formatBytes(file.size)} are too many: ${formatBytes(BYTES_MOST)} at most`
          : "";
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setFailed(wrong);
    if (wrong !== "" || file === null) return;
    stop.current = new AbortController();
    setShare(0);
    try {
      await uploadFile(directory, name, file, setShare, stop.current.signal);
      onClose();
    } catch (error) {
      setFailed(lineOf(error));
      setShare(null);
    }
  };
  return (
    <form className="act-form" onSubmit={(event) => void submit(event)} data-testid="form-upload">
      <p>
        <Trans>To {directory}. Its blocks go to the data nodes as they leave this machine.</Trans>
      </p>
      <label>
        <Trans>File</Trans>
        <input
          type="file"
          disabled={share !== null}
          ref={(element) => element?.setAttribute("autofocus", "")}
          data-testid="upload-file"
          onChange={(event) => choose(event.currentTarget.files?.[0] ?? null)}
        />
      </label>
      <TextField label={t`Name`} value={name} disabled={share !== null} onChange={setName} />
      {share !== null && (
        <label>
          {share < 1 ? t`${Math.round(share * 100)} % has left` : t`Waiting for the data nodes…`}
          <progress value={share} max={1} />
        </label>
      )}
      <Failed why={failed} testId="act-failed" />
      <div className="act-buttons">
        <button
          type="button"
          className="pill"
          onClick={share === null ? onClose : () => stop.current.abort()}
        >
          {share === null ? t`Leave it` : t`Stop`}
        </button>
        <button type="submit" className="primary" disabled={share !== null} data-testid="do-upload">
          <Trans>Upload</Trans>
        </button>
      </div>
    </form>
  );
}
