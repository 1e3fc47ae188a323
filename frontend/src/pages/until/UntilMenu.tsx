import { t } from "@lingui/core/macro";
import { Popover } from "@mantine/core";
import { useEffect, useState } from "react";
import { api } from "../../api/client";
import type { UntilChoice } from "../../api/schema";
import { isConnected, useLab } from "../../store/store";
import { complain } from "../../store/toasts";
import { TextField } from "../../ui/TextField";
import { useAttempt } from "../../ui/useAttempt";
import { openUntil, useUntilMenu } from "./opened";
import { choicesWith } from "./until";
import "./until.css";

interface Props {
  /** What the cluster does until then. */
  verb: "Run" | "Wait";
  /** On the button. */
  label: string;
  /** Examples of what can be written in the field. */
  accepts: string;
  /** Begins; a refusal is shown in the menu. */
  onChoose: (text: string) => Promise<void>;
}

/** The choices of what to go on until, and a field for any other. */
export function UntilMenu({ verb, label, accepts, onChoose }: Props) {
  const opened = useUntilMenu((state) => state.opened);
  const enabled = useLab(isConnected);
  return (
    <Popover
      opened={opened}
      onChange={openUntil}
      position="bottom-end"
      shadow="lg"
      transitionProps={{ duration: 0 }}
      trapFocus
      returnFocus
      withArrow
      width="26rem"
    >
      <Popover.Target>
        <button
          type="button"
          className="pill until-label"
          disabled={!enabled}
          title={label}
          data-testid="until"
          onClick={() => openUntil(!opened)}
        >
          <span>{label}</span>
          <span aria-hidden="true"> ▾</span>
        </button>
      </Popover.Target>
      <Popover.Dropdown
        className="menu"
        role="dialog"
        aria-label={verb === "Run" ? t`Run until` : t`Wait until`}
      >
        <Choices verb={verb} accepts={accepts} onChoose={onChoose} />
      </Popover.Dropdown>
    </Popover>
  );
}

function Choices({ verb, accepts, onChoose }: Omit<Props, "label">) {
  const [text, setText] = useState("");
  const [choices, setChoices] = useState<UntilChoice[]>([]);
  const { busy, failed, setFailed, attempt } = useAttempt();
  useEffect(() => {
    api.untilChoices().then(setChoices, complain);
  }, []);
  const choose = (chosen: string): void =>
    void attempt(async () => {
      await onChoose(chosen);
      openUntil(false);
    });
  return (
    <>
      <form
        className="fields until-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== "") choose(text);
        }}
      >
        <TextField
          label={verb === "Run" ? t`Run until` : t`Wait until`}
          testId="until-text"
          value={text}
          maxLength={120}
          placeholder={accepts}
          onChange={(written) => {
            setText(written);
            setFailed("");
          }}
        />
        <button type="submit" className="primary" disabled={busy}>
          {verb === "Run" ? t`Run` : t`Wait`}
        </button>
      </form>
      {failed !== "" && (
        <p className="until-failed" role="alert" data-testid="until-failed">
          {failed}
        </p>
      )}
      <ul className="until-choices">
        {choicesWith(choices, text).map((choice) => (
          <li key={choice.text}>
            <button type="button" disabled={busy} onClick={() => choose(choice.text)}>
              <strong>{choice.text}</strong>
              <span className="soft">{choice.means}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
