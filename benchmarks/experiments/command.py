"""`./cloverlab reproduce`: runs one experiment, prints its figures beside the paper's, and writes both and the plot to files, once more for
the page Papers."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rich.table import Table

from backend.errors import Malformed, reason_of
from backend.places import reproduced
from benchmarks._cluster import described
from benchmarks._model import ExperimentOutcome
from benchmarks.experiments.charts import svg
from benchmarks.experiments.registry import experiment_named
from nodes.real.private_files import replace_files


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
    contents = {f"{name}.json": json.dumps(whole, indent=1) + "\n", f"{name}.svg": svg(name, outcome.chart)}
    try:
        for file, content in contents.items():
            (into / file).write_text(content)
    except OSError as error:
        raise Malformed(f"--to {into}: {reason_of(error)}") from None
    reported.print(table(outcome))
    paths = " and ".join(str(into / file) for file in contents)
    for note in [*outcome.notes, f"kept as {paths}", kept_for_page(contents)]:
        reported.print(note)
    print(json.dumps(figures, indent=1))
    return 0


def kept_for_page(contents: dict[str, str]) -> str:
    """Replaces the outcome that the page shows; returns what a person should know of that."""
    place = reproduced()
    try:
        replace_files(place, contents)
    except OSError as error:
        return f"the page does not show it: {place}: {reason_of(error)}"
    return "the page Papers shows it"


def table(outcome: ExperimentOutcome) -> Table:
    beside = Table("figure", "ours", "the paper's")
    for key, value in outcome.figures.items():
        beside.add_row(key, f"{value:g}", f"{outcome.paper[key]:g}" if key in outcome.paper else "")
    return beside
