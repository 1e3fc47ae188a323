import { t } from "@lingui/core/macro";
import { useState } from "react";

/** A field for a serial number; Enter goes there. */
export function GoTo({ label, onGo }: { label: string; onGo: (sn: number) => void }) {
  const [text, setText] = useState("");
  return (
    <form
      className="journals-goto"
      onSubmit={(event) => {
        event.preventDefault();
        const sn = Number(text.replaceAll(",", ""));
        if (Number.isSafeInteger(sn) && sn > 0) onGo(sn);
      }}
    >
      <input
        aria-label={label}
        title={t`${label}: Enter goes there`}
        placeholder={label}
        inputMode="numeric"
        pattern="[0-9,]{1,16}"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </form>
  );
}
