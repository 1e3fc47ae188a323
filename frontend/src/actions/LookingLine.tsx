import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { onlyLooks, useLab } from "../store/store";
import { Failed } from "../ui/Failed";
import { useAttempt } from "../ui/useAttempt";
import { lookingWords, openFork } from "./looking";

/** The line above a page. */
export function LookingBanner() {
  const looks = useLab(onlyLooks);
  return looks ? (
    <section aria-label={t`A student's cluster`} data-testid="looking">
      <LookingLine />
    </section>
  ) : null;
}

/** Says whose cluster an instructor looks at, with the way to a copy that can be broken; nothing on any other cluster. */
export function LookingLine() {
  const looksAt = useLab((state) => state.looksAt);
  const { busy, failed, attempt } = useAttempt();
  if (looksAt === null) return null;
  return (
    <div className="looking">
      <p>{lookingWords(looksAt)}</p>
      <button
        type="button"
        className="primary"
        disabled={busy}
        data-testid="fork"
        onClick={() => void attempt(() => openFork(looksAt.id))}
      >
        <Trans>Fork</Trans>
      </button>
      <Failed why={failed} />
    </div>
  );
}
