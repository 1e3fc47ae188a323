import { t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { useMemo, useState } from "react";
import { api } from "../../api/client";
import { FAMILIES, type ScenarioRow } from "../../api/schema";
import { useLab } from "../../store/store";
import { addressOf, openScenario } from "../../store/url";
import { Failed } from "../../ui/Failed";
import { TextField } from "../../ui/TextField";
import { useAsked } from "../../ui/useAsked";
import { followed } from "../followed";
import { NewestRuns } from "./NewestRuns";
import { Reopened } from "./Reopened";
import { byFolder, found, whereOf } from "./rows";

const ALL = Object.keys(FAMILIES);

/** Every shipped scenario by folder, with what it teaches. */
export function ScenarioList() {
  const { answer, failed } = useAsked(api.scenarios);
  const [search, setSearch] = useState("");
  const rows = useMemo(() => found(answer ?? [], search), [answer, search]);
  return (
    <>
      <header className="page-head scenarios-head">
        <div>
          <h2>
            <Trans>Scenarios</Trans>
          </h2>
          <p>
            <Trans>
              A cluster, a load, faults at their times, and what must hold. Each one teaches something, and
              runs on every family that it makes sense for.
            </Trans>
          </p>
        </div>
        <search className="scenarios-search fields">
          <TextField
            type="search"
            label={t`Search`}
            value={search}
            onChange={setSearch}
            maxLength={80}
            testId="scenario-search"
          />
          <span className="soft" role="status" data-testid="scenario-count">
            {answer !== null && t`${rows.length} of ${answer.length}`}
          </span>
        </search>
      </header>
      <NewestRuns />
      <Reopened />
      <Failed why={failed} />
      {answer === null && failed === "" && (
        <p className="waiting">
          <Trans>Reading the scenarios…</Trans>
        </p>
      )}
      {answer !== null && rows.length === 0 && (
        <p className="waiting">
          <Trans>No scenario has these words.</Trans>
        </p>
      )}
      {byFolder(rows).map(({ folder, title, rows: ofFolder }) => (
        <section key={folder} aria-label={title}>
          <h3>{title}</h3>
          <ul className="tiles">
            {ofFolder.map((row) => (
              <Card key={row.file} row={row} />
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function Card({ row }: { row: ScenarioRow }) {
  const address = useLab((state) => addressOf("scenarios", { ...state, scenario: row.file }));
  return (
    <li className="panel tile" data-testid={`scenario-${row.file}`}>
      <h4>
        <a href={address} onClick={followed(() => openScenario(row.file))}>
          {row.name}
        </a>
      </h4>
      {row.error === "" ? <p>{row.teaches}</p> : <Failed why={row.error} />}
      {row.error === "" && (
        <p className="tile-facts">
          <strong>{row.protocol}</strong>
          {row.paper !== "" && <span>{row.paper}</span>}
          <span>
            <Plural value={row.steps} one="# step" other="# steps" />
            {row.variants > 1 && t`, ${row.variants} variants`}
          </span>
          <span>{whereOf(row, ALL)}</span>
        </p>
      )}
    </li>
  );
}
