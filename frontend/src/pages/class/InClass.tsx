import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type ChangeEvent, useState } from "react";
import { api } from "../../api/client";
import { inCluster } from "../../api/fleet";
import type { VerdictRequest } from "../../api/schema";
import { useLab } from "../../store/store";
import { Failed } from "../../ui/Failed";
import { useAttempt } from "../../ui/useAttempt";
import "./class.css";

const BYTES_MAX = 1 << 16;

/** What the file says; whether it is a verdict, and signed, is for the control plane to judge. */
async function verdictIn(file: File): Promise<VerdictRequest> {
  try {
    const found = file.size <= BYTES_MAX ? JSON.parse(await file.text()) : null;
    if (found !== null && typeof found === "object" && !Array.isArray(found)) return found;
  } catch {
    // The refusal below says what would be right.
  }
  throw new Error(t`${file.name} is no verdict: choose the file that ./cloverlab grade … --out wrote`);
}

/** For a student of a class: the way to the free cluster, and where verdicts are handed in. */
export function InClass() {
  const student = useLab((state) => state.student);
  const { busy, failed, attempt } = useAttempt();
  const [done, setDone] = useState("");
  if (student === "") return null;
  const open = () => attempt(async () => location.assign(inCluster("/", (await api.openMyCluster()).name)));
  const handIn = ({ currentTarget }: ChangeEvent<HTMLInputElement>): void => {
    const file = currentTarget.files?.[0];
    if (file === undefined) return;
    setDone("");
    void attempt(async () => {
      const verdict = await verdictIn(file);
      await api.handIn(verdict);
      setDone(verdict.passed ? t`Handed in: ${verdict.lab}, passed.` : t`Handed in: ${verdict.lab}, failed.`);
    });
    currentTarget.value = "";
  };
  return (
    <section className="panel in-class" aria-label={t`Your class`}>
      <p>
        <Trans>
          You are <strong data-testid="me">{student}</strong>.
        </Trans>
      </p>
      <button
        type="button"
        className="pill"
        disabled={busy}
        data-testid="my-cluster"
        onClick={() => void open()}
      >
        <Trans>Your own cluster</Trans>
      </button>
      <label className="in-class-file">
        <Trans>
          Hand in a verdict of <code>./cloverlab grade</code>
        </Trans>{" "}
        <input type="file" accept=".json,application/json" data-testid="hand-in" onChange={handIn} />
      </label>
      <p role="status">{done}</p>
      <Failed why={failed} testId="in-class-failed" />
    </section>
  );
}
