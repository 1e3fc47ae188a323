"""An experiment of a paper: the paper's figures beside ours."""

from __future__ import annotations

import msgspec

from backend.papers.catalogue import experiment_named
from backend.papers.outcomes import ReproducedFile, outcome_of, ran_at_s


class BothFigures(msgspec.Struct):
    """One figure of the paper and ours; None where it is not known."""

    figure: str
    theirs: float | None
    ours: float | None


class ExperimentPage(msgspec.Struct):
    paper: str
    short: str
    name: str
    section: str
    asks: str
    saw: str
    modelled: str
    command: str
    """What runs it on this machine."""
    ran_at_s: float
    """When it last ran, in seconds since 1970; 0 for never: then no figure is ours."""
    quick: bool
    """Whether that was a small run, for the shape only."""
    figures: list[BothFigures]
    notes: list[str]


def page_of(name: str) -> ExperimentPage:
    """Raises NotThere, Malformed."""
    paper, experiment = experiment_named(name)
    outcome = outcome_of(name)
    return ExperimentPage(
        paper.key, paper.file.short, name, experiment.section, experiment.asks, experiment.saw, experiment.modelled,
        f"./cloverlab reproduce {name}", ran_at_s(name) if outcome is not None else 0.0,
        outcome is not None and outcome.config.get("quick") is True,
        both(experiment.theirs, outcome), [] if outcome is None else outcome.notes,
    )  # fmt: skip


def both(theirs: dict[str, float], outcome: ReproducedFile | None) -> list[BothFigures]:
    """The figures that the paper gives, then ours alone. A run names the paper's figures for the points that it measured."""
    ours = {} if outcome is None else outcome.figures
    paper = theirs | ({} if outcome is None else outcome.paper)
    alone = [figure for figure in ours if figure not in paper]
    return [BothFigures(figure, paper.get(figure), ours.get(figure)) for figure in [*paper, *alone]]
