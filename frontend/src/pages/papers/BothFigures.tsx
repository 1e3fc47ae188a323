import { Trans } from "@lingui/react/macro";
import type { BothFigures as Figures } from "../../api/schema";
import { amount, sharesOf } from "./figures";

/** The paper's figures and ours, a row each; once there are ours, with bars that share a scale within the row. */
export function BothFigures({ figures, ran }: { figures: readonly Figures[]; ran: boolean }) {
  if (figures.length === 0)
    return (
      <p className="soft" data-testid="no-figures">
        <Trans>The paper's text gives no figures, only a curve.</Trans>
      </p>
    );
  return (
    <table data-testid="figures">
      <thead>
        <tr>
          <th scope="col">
            <Trans>Figure</Trans>
          </th>
          <th scope="col">
            <Trans>The paper's</Trans>
          </th>
          {ran && (
            <>
              <th scope="col">
                <Trans>Ours</Trans>
              </th>
              <th scope="col">
                <span className="experiment-key" data-whose="theirs">
                  <Trans>theirs</Trans>
                </span>{" "}
                <span className="experiment-key" data-whose="ours">
                  <Trans>ours</Trans>
                </span>
              </th>
            </>
          )}
        </tr>
      </thead>
      <tbody>
        {figures.map((row) => (
          <tr key={row.figure}>
            <th scope="row">{row.figure.replaceAll("_", " ")}</th>
            <td>{amount(row.theirs)}</td>
            {ran && (
              <>
                <td>{amount(row.ours)}</td>
                <td aria-hidden="true">
                  <Bars row={row} />
                </td>
              </>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Bars({ row }: { row: Figures }) {
  const shares = sharesOf(row);
  return (
    <div className="experiment-bars">
      {row.theirs !== null && <i data-whose="theirs" style={{ inlineSize: `${shares.theirs * 100}%` }} />}
      {row.ours !== null && <i data-whose="ours" style={{ inlineSize: `${shares.ours * 100}%` }} />}
    </div>
  );
}
