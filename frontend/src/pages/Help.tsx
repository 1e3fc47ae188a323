import { type KeyLine, PLACE_KEYS, TIME_KEYS } from "../actions/keys";
import { glossaryOf } from "../families/glossary";
import { useLab, useWords } from "../store/store";
import { Dialog } from "../ui/Dialog";
import { KeyCap } from "../ui/KeyCap";

/** All keys, with those of the faults from the control plane, and the terms on the page. */
export function Help({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const verbs = useLab((state) => state.verbs);
  const words = useWords();
  const faults = verbs.map(({ key, label, danger }) => ({
    keys: [key],
    does: danger ? `${label}. ${danger}` : label,
  }));
  return (
    <Dialog opened={opened} title="Keys and words" onClose={onClose}>
      <div className="help">
        <div>
          <KeyTable title="Time and selection" lines={[...TIME_KEYS, ...PLACE_KEYS]} />
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
        </div>
        <KeyTable title="Faults, on the selection" lines={faults} />
        <p className="soft help-note">
          While the picture is frozen, N and P step; with Shift they are faults again. A server dragged to
          “Cut off”, or servers in a loop drawn around them, are partitioned from the rest.
        </p>
      </div>
    </Dialog>
  );
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
