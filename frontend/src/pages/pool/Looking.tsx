import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type FormEvent, useState } from "react";
import { api } from "../../api/client";
import type { Looked, LookedIn } from "../../api/schema";
import { isConnected, useLab } from "../../store/store";
import { count } from "../../store/time";
import { formatBytes } from "../../ui/bytes";
import { Failed } from "../../ui/Failed";
import { GroupBadge } from "../../ui/GroupBadge";
import { TextField } from "../../ui/TextField";
import { useAttempt } from "../../ui/useAttempt";
import { foundWords } from "./looked";

/** A path in the newest images, and the partitions that were loaded for it. */
export function Looking({ groups }: { groups: readonly string[] }) {
  const connected = useLab(isConnected);
  const [path, setPath] = useState("/");
  const [looked, setLooked] = useState<Looked | null>(null);
  const { busy, failed, attempt } = useAttempt();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void attempt(async () => {
      setLooked(null);
      setLooked(await api.lookInImages(path));
    });
  };
  return (
    <section className="panel pool-looking" aria-label={t`Look into the images`}>
      <h2>
        <Trans>Look into the images</Trans>
      </h2>
      <form className="act-form" onSubmit={submit}>
        <TextField label={t`Path`} value={path} maxLength={4096} testId="look-path" onChange={setPath} />
        <button type="submit" className="pill" disabled={busy || !connected} data-testid="look">
          {busy ? t`Loading partitions…` : t`Look`}
        </button>
        <Failed why={failed} testId="look-failed" />
      </form>
      {looked !== null && (
        <div data-testid="looked" aria-live="polite">
          <p>
            <strong>{looked.path}</strong>: {foundWords(looked)}
          </p>
          {looked.names.length > 0 && <p className="soft">{looked.names.join(", ")}</p>}
          {looked.steps.map((step) => (
            <Loaded key={step.group + step.loaded.join()} step={step} groups={groups} />
          ))}
        </div>
      )}
    </section>
  );
}

function Loaded({ step, groups }: { step: LookedIn; groups: readonly string[] }) {
  const numbers = Array.from({ length: step.partitions }, (_, number) => number);
  return (
    <div className="pool-loaded">
      <span>
        <GroupBadge name={step.group} groups={groups} />{" "}
        <Trans>
          image at sn {count(step.sn)} on {step.server}
        </Trans>
      </span>
      <span className="pool-parts" aria-hidden="true">
        {numbers.map((number) => (
          <i
            key={number}
            className={step.loaded.includes(number) ? "pool-part" : "pool-part pool-absent"}
            title={`p${String(number).padStart(2, "0")}`}
          />
        ))}
      </span>
      <span className="soft figures">
        <Trans>
          loaded {count(step.loaded.length)} of {count(step.partitions)} partitions, {formatBytes(step.size)}{" "}
          of {formatBytes(step.of_bytes)}
        </Trans>
      </span>
    </div>
  );
}
