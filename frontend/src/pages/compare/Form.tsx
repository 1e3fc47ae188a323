import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { ChangeEvent } from "react";
import type { Choices, ClusterChange } from "../../api/schema";
import { isConnected, useLab } from "../../store/store";
import { Series } from "./Series";
import { begin, cancel, change, isOver, useCompare } from "./store";
import { FEWEST, holesOf, labels, MOST, PAPER, withFamily } from "./wish";

/** Choice of scenario, seed and configurations. */
export function Form() {
  const { choices, wish, comparison } = useCompare();
  const connected = useLab(isConnected);
  const busy = comparison !== null && !isOver(comparison);
  const scenario = choices?.scenarios.find(({ file }) => file === wish.scenario);
  const names = labels(wish.changes, scenario?.cluster ?? {});
  const put = (index: number, next: ClusterChange): void =>
    change({ changes: wish.changes.map((each, place) => (place === index ? next : each)) });
  return (
    <section className="panel compare-form" aria-label={t`What is compared`}>
      <header className="instrument-head">
        <h2>
          <Trans>Compare</Trans>
        </h2>
        <p className="soft">
          <Trans>The same workload and faults, from the same seed, on the simulator.</Trans>
        </p>
      </header>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void begin();
        }}
      >
        <div className="compare-what">
          <label>
            <Trans>Scenario</Trans>
            <select
              value={wish.scenario}
              data-testid="compare-scenario"
              onChange={(event) => change({ scenario: event.currentTarget.value })}
            >
              {scenario === undefined && <option value={wish.scenario}>{wish.scenario}</option>}
              {choices?.scenarios.map(({ file, name }) => (
                <option key={file} value={file}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <label>
            <Trans>Seed</Trans>
            <input
              type="number"
              min={0}
              max={2 ** 31}
              value={wish.seed}
              onChange={(event) =>
                change({ seed: Math.max(0, Math.trunc(Number(event.currentTarget.value))) })
              }
            />
          </label>
        </div>
        {scenario !== undefined && (
          <p className="soft compare-teaches">
            {scenario.teaches}
            {scenario.paper !== "" && ` (${scenario.paper})`}
          </p>
        )}
        <ol className="compare-configurations">
          {wish.changes.map((each, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: its place is what it is
            <li key={index} data-testid={`configuration-${index + 1}`}>
              <Series index={index} label={names[index] ?? ""} />
              {choices !== null && (
                <Fields
                  choices={choices}
                  own={scenario?.cluster ?? {}}
                  value={each}
                  onChange={(next) => put(index, next)}
                />
              )}
              {wish.changes.length > FEWEST && (
                <button
                  type="button"
                  className="plain"
                  onClick={() => change({ changes: wish.changes.filter((_, place) => place !== index) })}
                >
                  <Trans>Leave out</Trans>
                </button>
              )}
            </li>
          ))}
        </ol>
        <div className="compare-acts">
          <button
            type="button"
            className="pill"
            disabled={wish.changes.length >= MOST}
            data-testid="add-configuration"
            onClick={() => change({ changes: [...wish.changes, { ...wish.changes.at(-1) }] })}
          >
            <Trans>Add a configuration</Trans>
          </button>
          <span className="header-space" />
          {busy ? (
            <button
              type="button"
              className="pill danger"
              data-testid="compare-cancel"
              onClick={() => void cancel()}
            >
              <Trans>Cancel</Trans>
            </button>
          ) : (
            <button
              type="submit"
              className="primary"
              disabled={!connected || choices === null}
              data-testid="compare-begin"
            >
              <Trans>Compare</Trans>
            </button>
          )}
        </div>
      </form>
    </section>
  );
}

/** Choices of holes: each hole alone, and the open ones. */
function choicesOf(known: readonly string[], now: string): string[] {
  return now === "" || now === PAPER || known.includes(now) ? [...known] : [now, ...known];
}

function withHoles(value: ClusterChange, chosen: string): ClusterChange {
  const { variant: _variant, holes: _holes, ...rest } = value;
  if (chosen === PAPER) return { ...rest, variant: PAPER };
  return { ...rest, holes: chosen === "" ? [] : chosen.split(",") };
}

interface FieldsProps {
  choices: Choices;
  own: Record<string, unknown>;
  value: ClusterChange;
  onChange: (next: ClusterChange) => void;
}

function Fields({ choices, own, value, onChange }: FieldsProps) {
  const groups = Number(value.groups ?? own.groups ?? 1);
  const family = choices.families.find(({ name }) => name === (value.protocol ?? own.protocol));
  const word =
    (key: "placement" | "cross_group") =>
    (event: ChangeEvent<HTMLSelectElement>): void =>
      onChange({ ...value, [key]: event.currentTarget.value });
  const number =
    (key: "groups" | "standbys") =>
    (event: ChangeEvent<HTMLInputElement>): void =>
      onChange({ ...value, [key]: Math.trunc(Number(event.currentTarget.value)) });
  const open = String(holesOf(value, own));
  const now = (key: string): string => String((value as Record<string, unknown>)[key] ?? own[key] ?? "");
  return (
    <div className="compare-fields">
      <label>
        <Trans>protocol</Trans>
        <select
          value={now("protocol")}
          onChange={(event) => {
            const chosen = choices.families.find(({ name }) => name === event.currentTarget.value);
            if (chosen !== undefined) onChange(withFamily(value, own, chosen));
          }}
        >
          {choices.families.map(({ name, says }) => (
            <option key={name} value={name} title={says}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        <Trans>groups</Trans>
        <input
          type="number"
          min={1}
          max={family?.groups_max ?? 8}
          value={now("groups")}
          onChange={number("groups")}
        />
      </label>
      <label>
        <Trans>standbys</Trans>
        <input
          type="number"
          min={0}
          max={Math.min(14, family?.standbys_max ?? 14)}
          value={now("standbys")}
          onChange={number("standbys")}
        />
      </label>
      {family !== undefined && family.holes.length > 0 && (
        <label>
          <Trans>hole of the paper</Trans>
          <select
            value={open}
            data-testid="compare-holes"
            onChange={({ currentTarget }) => onChange(withHoles(value, currentTarget.value))}
          >
            <option value="">
              <Trans>none: safe</Trans>
            </option>
            <option value={PAPER}>
              <Trans>all: as the paper has it</Trans>
            </option>
            {choicesOf(family.holes, open).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      )}
      {groups > 1 && (
        <>
          <label>
            <Trans>placement</Trans>
            <select value={now("placement")} onChange={word("placement")}>
              {choices.placements.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <label>
            <Trans>across groups</Trans>
            <select value={now("cross_group")} onChange={word("cross_group")}>
              {choices.cross_groups.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        </>
      )}
    </div>
  );
}
