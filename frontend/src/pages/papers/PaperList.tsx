import { Trans } from "@lingui/react/macro";
import { api } from "../../api/client";
import type { ExperimentRow, MechanismRow, PaperRow } from "../../api/schema";
import { Failed } from "../../ui/Failed";
import { useAsked } from "../../ui/useAsked";
import { EXPERIMENTS } from "./names";
import { PaperLink } from "./PaperLink";

/** The papers, each with its mechanisms and experiments. */
export function PaperList() {
  const { answer, failed } = useAsked(api.papers);
  return (
    <>
      <header className="page-head">
        <h2>
          <Trans>Papers</Trans>
        </h2>
        <p>
          <Trans>
            The ideas behind this program, each in our own words beside a simulated cluster that shows it, and
            the papers' experiments with their figures and ours.
          </Trans>
        </p>
      </header>
      <Failed why={failed} />
      {answer === null && failed === "" && (
        <p className="waiting">
          <Trans>Reading the papers…</Trans>
        </p>
      )}
      {answer?.map((paper) => (
        <OnePaper key={paper.paper} paper={paper} />
      ))}
    </>
  );
}

function OnePaper({ paper }: { paper: PaperRow }) {
  return (
    <section className="paper" aria-labelledby={`paper-${paper.paper}`} data-testid={`paper-${paper.paper}`}>
      <h3 id={`paper-${paper.paper}`}>
        <span className="paper-short">{paper.short}</span> {paper.title}
      </h3>
      <p className="soft">
        {paper.authors}. {paper.published}.
      </p>
      <p>{paper.about}</p>
      <ol className="tiles">
        {paper.mechanisms.map((row) => (
          <MechanismCard key={row.mechanism} row={row} />
        ))}
      </ol>
      {paper.experiments.length > 0 && (
        <details className="panel paper-experiments">
          <summary>
            <Trans>
              {paper.experiments.length} experiments, {paper.experiments.filter(ran).length} of them run here
            </Trans>
          </summary>
          <ul>
            {paper.experiments.map((row) => (
              <ExperimentLine key={row.name} row={row} />
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function ran({ ran_at_s }: ExperimentRow): boolean {
  return ran_at_s > 0;
}

function MechanismCard({ row }: { row: MechanismRow }) {
  return (
    <li className="panel tile" data-testid={`mechanism-${row.paper}/${row.mechanism}`}>
      <h4>
        <PaperLink to={`${row.paper}/${row.mechanism}`}>{row.name}</PaperLink>
      </h4>
      <p>{row.about}</p>
      <p className="tile-facts">
        <span>{row.sections.join("; ")}</span>
        <span>{row.protocol}</span>
      </p>
    </li>
  );
}

function ExperimentLine({ row }: { row: ExperimentRow }) {
  return (
    <li data-testid={`experiment-${row.name}`}>
      <PaperLink to={`${EXPERIMENTS}${row.name}`}>{row.name}</PaperLink> <span>{row.asks}</span>
      {ran(row) && (
        <strong className="lab-done">
          <Trans>✓ run here</Trans>
        </strong>
      )}
    </li>
  );
}
