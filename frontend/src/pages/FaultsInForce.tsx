import { t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { Popover } from "@mantine/core";
import { endingsOf, faultWords } from "../actions/inForce";
import { perform } from "../actions/perform";
import { rowOf } from "../actions/verbs";
import type { Fault } from "../api/schema";
import { canAct, isLive, runStart, shownPicture, useLab } from "../store/store";
import { sinceStart } from "../store/time";

/** The faults in force at the shown moment; those of the present with what ends them. */
export function FaultsInForce() {
  const faults = useLab((state) => shownPicture(state).faults);
  const verbs = useLab((state) => state.verbs);
  const now = useLab((state) => canAct(state) && isLive(state));
  if (faults.length === 0) return null;
  const end = (some: readonly Fault[]): void => {
    for (const { verb, targets, options } of some.flatMap((fault) => endingsOf(verbs, fault)))
      void perform(verb, targets, options);
  };
  return (
    <Popover position="bottom-end" shadow="lg" trapFocus withArrow width="26rem">
      <Popover.Target>
        <button type="button" className="pill in-force-count" data-testid="faults">
          <Plural value={faults.length} one="# fault" other="# faults" />
        </button>
      </Popover.Target>
      <Popover.Dropdown className="menu" role="dialog" aria-label={t`Faults in force`}>
        <h2 className="menu-title">
          <Trans>Faults in force</Trans>
        </h2>
        <ul className="in-force">
          {faults.map((fault) => (
            <Line key={fault.fault} fault={fault} onEnd={now ? () => end([fault]) : null} />
          ))}
        </ul>
        {now && faults.length > 1 && (
          <button type="button" className="pill" onClick={() => end(faults)}>
            <Trans>End all</Trans>
          </button>
        )}
      </Popover.Dropdown>
    </Popover>
  );
}

function Line({ fault, onEnd }: { fault: Fault; onEnd: (() => void) | null }) {
  const verbs = useLab((state) => state.verbs);
  const start_ns = useLab(runStart);
  const undo = rowOf(verbs, fault.verb)?.undo;
  const label = undo && undo.verb !== fault.verb ? rowOf(verbs, undo.verb)?.label : t`Undo`;
  return (
    <li data-testid={`fault-${fault.fault}`}>
      <span className="figures soft">{sinceStart(fault.at_ns, start_ns)}</span>
      <span>{faultWords(verbs, fault)}</span>
      {onEnd !== null && undo && (
        <button type="button" className="pill" onClick={onEnd}>
          {label ?? t`Undo`}
        </button>
      )}
    </li>
  );
}
