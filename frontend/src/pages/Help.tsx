import { CLOCK_KEYS, type KeyLine, PLACE_KEYS, TIME_KEYS } from "../actions/keys";
import { glossaryOf } from "../families/glossary";
import { useLab, useWords } from "../store/store";
import { openTour } from "../tour/store";
import { Dialog } from "../ui/Dialog";
import { KeyCap } from "../ui/KeyCap";
import { PAGE_KEYS } from "./pageKeys";

/** The keys of the page, with those of the faults from the control plane, and the terms on it. */
export function Help({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const page = useLab((state) => state.page);
  const simulated = useLab((state) => state.virtual !== null);
  const words = useWords();
  return (
    <Dialog opened={opened} title="Keys and words" onClose={onClose}>
      <div className="help">
        <div>
          {simulated && <KeyTable title="The clock, in the present" lines={CLOCK_KEYS} />}
          {page === "cluster" ? (
            <KeyTable title="Time and selection" lines={[...TIME_KEYS, ...PLACE_KEYS]} />
          ) : (
            <KeyTable title="Keys" lines={PAGE_KEYS[page]} />
          )}
          {page === "cluster" && <Faults />}
        </div>
        <section data-testid="glossary">
          <h3>Words</h3>
          <dl className="key-table">
            {glossaryOf(words).map(([word, says]) => (
              <div key={word}>
                <dt>{word}</dt>
                <dd>{says}</dd>
              </div>
            ))}
          </dl>
        </section>
        {page === "cluster" && (
          <p className="soft help-note">
            A server dragged to “Cut off”, or servers in a loop drawn around them, are partitioned from the
            rest.{" "}
            <button
              type="button"
              className="pill"
              onClick={() => {
                onClose();
                openTour();
              }}
            >
              Take the tour
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
  return <KeyTable title="Faults, on the selection" lines={lines} />;
}

function KeyTable({ title, lines }: { title: string; lines: KeyLine[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl className="key-table">
        {lines.map(({ keys, does }) => (
          <div key={keys.join() + does}>
            <dt>
              {keys.map((key) => (
                <KeyCap key={key}>{key}</KeyCap>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
