import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Sign, type Tone } from "../../ui/Sign";
import { seedWords } from "./groups";
import { type ScoreRow, type ScoreState, seconds } from "./scores";

interface Props {
  rows: readonly ScoreRow[];
  chosen: string;
  onChoose: (bug: string) => void;
}

const TONES: Record<ScoreState, Tone> = { found: "held", missed: "broken", unmeasured: "none" };
const SIGNS: Record<ScoreState, string> = { found: "✓", missed: "✗", unmeasured: "·" };

/** A row for each known bug; the button of its name covers the row. */
export function ScoreTable({ rows, chosen, onChoose }: Props) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">
            <Trans>Bug</Trans>
          </th>
          <th scope="col">
            <Trans>Family</Trans>
          </th>
          <th scope="col">
            <Trans>Violated invariant</Trans>
          </th>
          <th scope="col">
            <Trans>Found</Trans>
          </th>
          <th scope="col">
            <Trans>Seeds</Trans>
          </th>
          <th scope="col">
            <Trans>Measured</Trans>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row
            key={row.bug.name}
            row={row}
            chosen={row.bug.name === chosen}
            onChoose={() => onChoose(row.bug.name)}
          />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps {
  row: ScoreRow;
  chosen: boolean;
  onChoose: () => void;
}

function Row({ row: { bug, score, state }, chosen, onChoose }: RowProps) {
  return (
    <tr data-testid={`score-${bug.name}`} data-state={state} data-chosen={chosen}>
      <th scope="row">
        <button
          type="button"
          aria-current={chosen}
          title={t`Chooses this bug for a search`}
          onClick={onChoose}
        >
          {bug.name}
        </button>
        <span className="soft">{bug.says}</span>
      </th>
      <td>{score?.family ?? bug.family}</td>
      <td className="score-result">
        <Sign tone={TONES[state]}>{SIGNS[state]}</Sign> {resultOf(score)}
      </td>
      <td className="figures">{score !== null && state === "found" && t`after ${seconds(score.took_s)}`}</td>
      <td className="figures">{score !== null && seedWords(score.seeds)}</td>
      <td className="figures soft" title={score === null ? undefined : t`version ${score.version}`}>
        {score !== null && new Date(score.measured_at_s * 1_000).toLocaleDateString()}
      </td>
    </tr>
  );
}

function resultOf(score: ScoreRow["score"]): string {
  if (score === null) return t`not measured here`;
  return score.invariant || t`not found within ${score.limit_s} s`;
}
