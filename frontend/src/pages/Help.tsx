import { type KeyLine, PLACE_KEYS, TIME_KEYS } from "../actions/keys";
import { useLab } from "../store/store";
import { Dialog } from "../ui/Dialog";
import { KeyCap } from "../ui/KeyCap";

/** All keys, those of the faults as the control plane tells them. */
export function Help({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const verbs = useLab((state) => state.verbs);
  const faults = verbs.map(({ key, label, danger }) => ({
    keys: [key],
    does: danger ? `${label}. ${danger}` : label,
  }));
  return (
    <Dialog opened={opened} title="Keys" onClose={onClose}>
      <div className="help">
        <KeyTable title="What is shown" lines={[...TIME_KEYS, ...PLACE_KEYS]} />
        <KeyTable title="Faults, on what is selected" lines={faults} />
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
