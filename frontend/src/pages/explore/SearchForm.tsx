import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { Ref } from "react";
import { api } from "../../api/client";
import type { Search, SearchChoices } from "../../api/schema";
import { isConnected, useLab } from "../../store/store";
import { Failed } from "../../ui/Failed";
import { useAttempt } from "../../ui/useAttempt";
import type { Chosen } from "./useWish";
import { bugOf, familiesOf, MINUTES_MAX, requestOf, SEEDS_MAX, type Wish, withBug } from "./wish";

interface Props {
  /** Null until the choices are known. */
  chosen: Chosen | null;
  /** Why they are not known. */
  unread: string;
  running: boolean;
  bugRef: Ref<HTMLSelectElement>;
  onWish: (wish: Wish) => void;
  onSearch: (search: Search) => void;
}

/** Choice of family, bug and length; start and stop. */
export function SearchForm({ chosen, unread, running, bugRef, onWish, onSearch }: Props) {
  const connected = useLab(isConnected);
  const { busy, failed, attempt } = useAttempt();
  return (
    <section className="panel explore-form" aria-label={t`What is searched`}>
      <header className="instrument-head">
        <h2>
          <Trans>Explore</Trans>
        </h2>
        <p className="soft">
          <Trans>Random schedules of load and faults on the simulator, beside this cluster.</Trans>
        </p>
      </header>
      {chosen === null ? (
        unread === "" && (
          <p className="waiting">
            <Trans>Reading the choices…</Trans>
          </p>
        )
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void attempt(async () => onSearch(await api.beginSearch(requestOf(chosen.wish))));
          }}
        >
          <Fields {...chosen} bugRef={bugRef} onChange={onWish} />
          {running ? (
            <button
              type="button"
              className="pill danger"
              disabled={busy || !connected}
              data-testid="explore-stop"
              onClick={() => void attempt(async () => onSearch(await api.stopSearch()))}
            >
              <Trans>Stop</Trans>
            </button>
          ) : (
            <button
              type="submit"
              className="primary"
              disabled={busy || !connected}
              data-testid="explore-start"
            >
              <Trans>Start</Trans>
            </button>
          )}
          <p className="explore-bug">
            {bugOf(chosen.choices, chosen.wish.bug)?.says ??
              t`The safe variant: every failure would be a bug of Cloverlab.`}
          </p>
        </form>
      )}
      <Failed why={failed || unread} testId="explore-refused" />
    </section>
  );
}

interface FieldsProps {
  choices: SearchChoices;
  wish: Wish;
  bugRef: Ref<HTMLSelectElement>;
  onChange: (wish: Wish) => void;
}

function Fields({ choices, wish, bugRef, onChange }: FieldsProps) {
  const able = familiesOf(choices, wish.bug);
  const ofKind = (kind: string) => choices.bugs.filter((bug) => bug.kind === kind);
  return (
    <>
      <label>
        <Trans>Bug that is switched on</Trans>
        <select
          ref={bugRef}
          value={wish.bug}
          data-testid="explore-bug"
          onChange={({ currentTarget }) => onChange(withBug(wish, choices, currentTarget.value))}
        >
          <option value="">
            <Trans>none: the safe variant</Trans>
          </option>
          <optgroup label={t`Holes of the papers`}>
            {ofKind("hole").map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </optgroup>
          <optgroup label={t`Mutations: mistakes of our own`}>
            {ofKind("mutation").map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </optgroup>
        </select>
      </label>
      <label>
        <Trans>Family</Trans>
        <select
          value={wish.family}
          data-testid="explore-family"
          onChange={({ currentTarget }) => onChange({ ...wish, family: currentTarget.value })}
        >
          <option value="">
            <Trans>all, in turn</Trans>
          </option>
          {choices.families
            .filter(({ name }) => able.includes(name))
            .map(({ name, says }) => (
              <option key={name} value={name} title={says}>
                {name}
              </option>
            ))}
        </select>
      </label>
      <label>
        <Trans>Length in</Trans>
        <select
          value={wish.unit}
          data-testid="explore-unit"
          onChange={({ currentTarget }) =>
            onChange({ ...wish, unit: currentTarget.value === "seeds" ? "seeds" : "minutes" })
          }
        >
          <option value="minutes">
            <Trans>minutes</Trans>
          </option>
          <option value="seeds">
            <Trans>seeds</Trans>
          </option>
        </select>
      </label>
      {wish.unit === "minutes" ? (
        <Amount
          label={t`Minutes`}
          value={wish.minutes}
          least={0.1}
          most={MINUTES_MAX}
          step={0.1}
          onChange={(minutes) => onChange({ ...wish, minutes })}
        />
      ) : (
        <>
          <Amount
            label={t`Seeds`}
            value={wish.seeds}
            least={1}
            most={SEEDS_MAX}
            onChange={(seeds) => onChange({ ...wish, seeds })}
          />
          <Amount
            label={t`First seed`}
            value={wish.first}
            least={0}
            most={2 ** 31}
            onChange={(first) => onChange({ ...wish, first })}
          />
        </>
      )}
      <Amount
        label={t`Processes`}
        value={wish.jobs}
        least={1}
        most={choices.jobs_max}
        onChange={(jobs) => onChange({ ...wish, jobs })}
      />
    </>
  );
}

interface AmountProps {
  label: string;
  value: number;
  least: number;
  most: number;
  step?: number;
  onChange: (value: number) => void;
}

/** A number; an empty or wrong one is refused by the browser when the form is sent. */
function Amount({ label, value, least, most, step = 1, onChange }: AmountProps) {
  return (
    <label>
      {label}
      <input
        type="number"
        required
        min={least}
        max={most}
        step={step}
        value={Number.isNaN(value) ? "" : value}
        onChange={({ currentTarget }) => onChange(currentTarget.valueAsNumber)}
      />
    </label>
  );
}
