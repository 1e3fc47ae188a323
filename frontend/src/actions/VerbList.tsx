import { t } from "@lingui/core/macro";
import { NumberInput, SegmentedControl, Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Direction, Option, Verb } from "../api/schema";
import { onlyLooks, useLab } from "../store/store";
import { KeyCap } from "../ui/KeyCap";
import { LookingLine } from "./LookingLine";
import { perform } from "./perform";
import { forceWords } from "./words";

export interface Act {
  verb: Verb;
  targets: string[];
  /** Label of the verb in this list, when the verb's own label does not fit. */
  label?: string;
  /** Reason why the verb is impossible now; empty when it is possible. */
  impossible: string;
}

interface VerbListProps {
  acts: Act[];
  onDone: () => void;
  /** The verb that is open at first. */
  asks?: string | undefined;
}

/** Possible verbs as a list of buttons; a verb with options opens them in place. */
export function VerbList({ acts, onDone, asks }: VerbListProps) {
  const [open, setOpen] = useState<string | null>(asks ?? null);
  const looks = useLab(onlyLooks);
  const possible = acts.filter(({ impossible }) => impossible === "");
  if (looks) return <LookingLine />;
  if (possible.length === 0) return <p className="soft verbs-none">{acts[0]?.impossible}</p>;
  return (
    <ul className="verbs">
      {possible.map((act) => {
        const { verb } = act;
        const shown = verb.options.filter((option) => option.shown);
        const opens = shown.length > 0 || verb.asks;
        const begin = (): void => {
          if (opens) {
            setOpen(open === verb.verb ? null : verb.verb);
            return;
          }
          void perform(verb.verb, act.targets);
          onDone();
        };
        return (
          <li key={verb.verb}>
            <button
              type="button"
              className="verb"
              data-testid={`verb-${verb.verb}`}
              aria-expanded={opens ? open === verb.verb : undefined}
              onClick={begin}
            >
              <span className="verb-label">{act.label ?? verb.label}</span>
              {verb.key !== "" && <KeyCap>{verb.key}</KeyCap>}
              {verb.danger !== null && <span className="verb-says">{verb.danger}</span>}
            </button>
            {open === verb.verb && verb.asks && <AskForm act={act} onDone={onDone} />}
            {open === verb.verb && !verb.asks && <OptionForm act={act} options={shown} onDone={onDone} />}
          </li>
        );
      })}
    </ul>
  );
}

/** Shows the cost of the verb, and does it when the person confirms. */
function AskForm({ act, onDone }: { act: Act; onDone: () => void }) {
  const name = act.targets.at(-1) ?? "";
  const forces = act.verb.verb === "force";
  const cost = useLab(({ live }) => (forces ? forceWords(name, live) : act.verb.danger));
  return (
    <form
      className="verb-options"
      onSubmit={(event) => {
        event.preventDefault();
        void perform(act.verb.verb, act.targets);
        onDone();
      }}
    >
      <p data-testid={`cost-${act.verb.verb}`}>{cost}</p>
      <button type="submit" className="primary danger" data-testid={`do-${act.verb.verb}`}>
        {forces ? t`Force` : t`Remove`} {name}
      </button>
    </form>
  );
}

function OptionForm({ act, options, onDone }: { act: Act; options: Option[]; onDone: () => void }) {
  const [given, setGiven] = useState<Record<string, unknown>>(() =>
    Object.fromEntries(options.map((option) => [option.name, option.default])),
  );
  const change = (name: string, value: unknown): void => setGiven((old) => ({ ...old, [name]: value }));
  return (
    <form
      className="verb-options"
      onSubmit={(event) => {
        event.preventDefault();
        void perform(act.verb.verb, act.targets, given);
        onDone();
      }}
    >
      {options.map((option) => (
        <OptionField
          key={option.name}
          option={option}
          targets={act.targets}
          value={given[option.name]}
          onChange={(value) => change(option.name, value)}
        />
      ))}
      <button type="submit" className="primary" data-testid={`do-${act.verb.verb}`}>
        {act.label ?? act.verb.label}
      </button>
    </form>
  );
}

interface FieldProps {
  option: Option;
  targets: string[];
  value: unknown;
  onChange: (value: unknown) => void;
}

function OptionField({ option, targets, value, onChange }: FieldProps) {
  const [a, b] = targets;
  const { help, unit, least, most, step, choices } = option;
  switch (option.type) {
    case "direction":
      return (
        <SegmentedControl
          fullWidth
          aria-label={t`Direction`}
          value={value as Direction}
          onChange={onChange}
          data={[
            { value: "both", label: t`both ways` },
            { value: "to", label: b === undefined ? t`outgoing` : t`to ${b}` },
            { value: "from", label: b === undefined ? t`incoming` : t`to ${a ?? ""}` },
          ]}
        />
      );
    case "choice":
      return (
        <SegmentedControl
          fullWidth
          aria-label={option.name}
          value={String(value)}
          onChange={onChange}
          data={choices.map((choice) => ({ value: choice, label: choice.replaceAll("_", " ") }))}
        />
      );
    case "whole":
    case "number":
      return (
        <NumberInput
          label={help}
          suffix={` ${unit}`}
          min={least}
          max={most}
          step={step}
          value={Number(value)}
          onChange={(given) => onChange(option.type === "whole" ? Math.round(Number(given)) : Number(given))}
        />
      );
    case "share":
      return (
        <NumberInput
          label={help}
          suffix=" %"
          min={0}
          max={100}
          step={step * 100}
          value={Math.round(Number(value) * 100)}
          onChange={(percent) => onChange(Number(percent) / 100)}
        />
      );
    case "word":
      return (
        <TextInput
          label={help}
          value={String(value)}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
    default:
      return (
        <Switch
          label={option.name}
          checked={value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      );
  }
}
