import { i18n, type MessageDescriptor } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { CLOCK_KEYS, PLACE_KEYS, TIME_KEYS } from "../actions/keys";
import { glossaryOf } from "../families/glossary";
import { hasClock, onlyLooks, useLab, useWords } from "../store/store";
import { openTour } from "../tour/store";
import { Dialog } from "../ui/Dialog";
import { KeyCap } from "../ui/KeyCap";
import { PAGE_KEYS } from "./pageKeys";

/** The keys of the page, with those of the faults from the control plane, and the terms on it. */
export function Help({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const page = useLab((state) => state.page);
  const simulated = useLab(hasClock);
  const looks = useLab(onlyLooks);
  const words = useWords();
  return (
    <Dialog opened={opened} title={t`Keys and words`} onClose={onClose}>
      <div className="help">
        <div>
          {simulated && <KeyTable title={t`The clock, in the present`} lines={CLOCK_KEYS} />}
          {page === "cluster" ? (
            <KeyTable title={t`Time and selection`} lines={[...TIME_KEYS, ...PLACE_KEYS]} />
          ) : (
            <KeyTable title={t`Keys`} lines={PAGE_KEYS[page]} />
          )}
          {page === "cluster" && !looks && <Faults />}
        </div>
        <section data-testid="glossary">
          <h3>
            <Trans>Words</Trans>
          </h3>
          <dl className="key-table">
            {glossaryOf(words).map(([word, says]) => (
              <div key={word}>
                <dt>{word}</dt>
                <dd>{says}</dd>
              </div>
            ))}
          </dl>
        </section>
        {page === "cluster" && !looks && (
          <p className="soft help-note">
            <Trans>
              A server dragged to “Cut off”, or servers in a loop drawn around them, are partitioned from the
              rest.
            </Trans>{" "}
            <button
              type="button"
              className="pill"
              onClick={() => {
                onClose();
                openTour();
              }}
            >
              <Trans>Take the tour</Trans>
            </button>
          </p>
        )}
      </div>
    </Dialog>
  );
}

function Faults() {
  const verbs = useLab((state) => state.verbs);
  const lines = verbs.map(({ key, label, danger }) => ({
    keys: [key],
    does: danger ? `${label}. ${danger}` : label,
  }));
  return <KeyTable title={t`Faults, on the selection`} lines={lines} />;
}

/** The page's own texts are messages; those of the faults come from the control plane as they are. */
function said(does: MessageDescriptor | string): string {
  return typeof does === "string" ? does : i18n._(does);
}

function KeyTable({
  title,
  lines,
}: {
  title: string;
  lines: { keys: string[]; does: MessageDescriptor | string }[];
}) {
  return (
    <section>
      <h3>{title}</h3>
      <dl className="key-table">
        {lines.map(({ keys, does }) => (
          <div key={keys.join() + said(does)}>
            <dt>
              {keys.map((key) => (
                <KeyCap key={key}>{key}</KeyCap>
              ))}
            </dt>
            <dd>{said(does)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
