"""`./cloverlab reproduce`: runs one experiment, prints its figures beside the paper's, and writes both and the plot to files."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rich.table import Table

from backend.errors import Malformed, reason_of
from benchmarks._cluster import described
from benchmarks._model import ExperimentOutcome
from benchmarks.experiments.charts import svg
from benchmarks.experiments.registry import experiment_named


def reproduce(name: str, into: Path, quick: bool) -> int:
    """Returns the exit code. Raises Malformed for an unknown experiment, or when the files cannot be written."""
    experiment = experiment_named(name)
    try:
        into.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Malformed(f"--to {into}: {reason_of(error)}") from None
    reported = Console(stderr=True)
    reported.print(f"{experiment.name} ({experiment.paper}): {experiment.says}")
    outcome = experiment.run(quick)
    config = {**outcome.config, "quick": quick}
    figures = described(name, config, outcome.figures, outcome.paper)
    whole = {**figures, "notes": outcome.notes, "curves": outcome.chart.series}
    kept = {
        into / f"{name}.json": json.dumps(whole, indent=1) + "\n",
        into / f"{name}.svg": svg(name, outcome.chart),
    }
    for path, content in kept.items():
        try:
            path.write_text(content)
        except OSError as error:
            raise Malformed(f"--to {into}: {reason_of(error)}") from None
    reported.print(table(outcome))
    for note in [*outcome.notes, f"kept as {' and '.join(str(path) for path in kept)}"]:
        reported.print(note)
    print(json.dumps(figures, indent=1))
    return 0


def table(outcome: ExperimentOutcome) -> Table:
    beside = Table("figure", "ours", "the paper's")
    for key, value in outcome.figures.items():
        beside.add_row(key, f"{value:g}", f"{outcome.paper[key]:g}" if key in outcome.paper else "")
    return beside
