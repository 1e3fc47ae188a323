import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type FormEvent, useState } from "react";
import { api } from "../../api/client";
import type { Marking } from "../../api/schema";
import { isConnected, useLab } from "../../store/store";
import { milliseconds } from "../../store/time";
import { toast } from "../../store/toasts";
import { Failed } from "../../ui/Failed";
import { GroupBadge } from "../../ui/GroupBadge";
import { TextField } from "../../ui/TextField";
import { useAttempt } from "../../ui/useAttempt";
import { pauseMs, reachedMs, STEPS, wrongName } from "./rows";

interface FormProps {
  taken: readonly string[];
  onMarked: () => void;
}

/** Marks the state of all groups under a name, and shows an error without clearing the name. */
export function MarkForm({ taken, onMarked }: FormProps) {
  const connected = useLab(isConnected);
  const [name, setName] = useState("");
  const { busy, failed, setFailed, attempt } = useAttempt();
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const wrong = wrongName(name, taken);
    setFailed(wrong);
    if (wrong !== "") return;
    await attempt(async () => {
      await api.mark(name);
      toast(t`Marked ${name} in every group`);
      setName("");
    });
    onMarked();
  };
  return (
    <form className="act-form checkpoints-form" onSubmit={(event) => void submit(event)}>
      <TextField label={t`Name`} value={name} maxLength={63} testId="mark-name" onChange={setName} />
      <button type="submit" className="primary" disabled={busy || !connected} data-testid="mark">
        {busy ? t`Waiting for the groups…` : t`Mark`}
      </button>
      <Failed why={failed} testId="mark-failed" />
    </form>
  );
}

/** Progress of each group in the newest marking. */
export function LastMarking({ marking, groups }: { marking: Marking; groups: readonly string[] }) {
  const pause = pauseMs(marking);
  return (
    <div className="marking" data-testid="marking" data-name={marking.name} data-outcome={marking.outcome}>
      <h3>
        {marking.outcome === "" ? t`Marking` : t`Marked`} {marking.name}
        <span className={`checkpoint-state checkpoint-${marking.outcome || "marking"}`}>
          {marking.outcome || t`being marked`}
        </span>
      </h3>
      <p className="soft">
        {marking.time_server !== "" && `${t`Time server: ${marking.time_server}.`} `}
        {pause !== null && t`Requests waited ${milliseconds(pause)} at most.`}
      </p>
      {marking.reason !== "" && <p className="checkpoint-reason">{marking.reason}</p>}
      <table>
        <thead>
          <tr>
            <th scope="col">
              <Trans>group</Trans>
            </th>
            {STEPS.map(({ field, label }) => (
              <th key={field} scope="col">
                {i18n._(label)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {Object.entries(marking.groups).map(([group, part]) => (
            <tr key={group}>
              <th scope="row">
                <GroupBadge name={group} groups={groups} />
              </th>
              {STEPS.map(({ field }) => {
                const reached = reachedMs(marking.began_ns, part[field]);
                return (
                  <td key={field} data-reached={reached !== null} data-testid={`${field}-${group}`}>
                    {reached === null ? "–" : milliseconds(reached)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
