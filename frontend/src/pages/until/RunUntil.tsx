import { t } from "@lingui/core/macro";
import { api } from "../../api/client";
import { useLab } from "../../store/store";
import { UntilMenu } from "./UntilMenu";
import { changeOf, untilWords } from "./until";

async function run(text: string): Promise<void> {
  useLab.setState({ virtual: await api.clock(changeOf(text)) });
}

/** Plays the clock of a simulated cluster until something comes, and tells what it paused at. */
export function RunUntil() {
  const until = useLab(({ virtual }) => (virtual === null ? "" : untilWords(virtual)));
  const met = useLab(({ virtual }) => virtual?.met ?? "");
  return (
    <>
      <UntilMenu
        verb="Run"
        label={until === "" ? t`Run until…` : t`until ${until}`}
        accepts={t`settled, Serving or 60 s`}
        onChoose={run}
      />
      <output className="clock-met" data-testid="clock-met">
        {met !== "" && t`paused: ${met}`}
      </output>
    </>
  );
}
