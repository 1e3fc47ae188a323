"""Papers and mechanisms as the page shows them."""

from __future__ import annotations

from typing import Any

import msgspec

from backend.errors import NotThere
from backend.papers.model import ExperimentPart, Place, ShownPart
from backend.papers.outcomes import ran_at_s
from backend.papers.reader import Mechanism, Paper, mechanism_named, papers
from backend.scenarios.durations import per_second
from backend.scenarios.reader import targets


class MechanismRow(msgspec.Struct):
    paper: str
    mechanism: str
    name: str
    about: str
    sections: list[str]
    protocol: str


class ExperimentRow(msgspec.Struct):
    name: str
    section: str
    asks: str
    ran_at_s: float
    """When `reproduce` last ran it on this machine, in seconds since 1970; 0 for never."""


class PaperRow(msgspec.Struct):
    paper: str
    short: str
    title: str
    authors: str
    published: str
    about: str
    mechanisms: list[MechanismRow]
    experiments: list[ExperimentRow]


class FaultOrder(msgspec.Struct):
    verb: str
    targets: list[str]
    options: dict[str, Any]


class LoadOrder(msgspec.Struct):
    rate_per_s: float | None
    paused: bool | None


class ShownStep(msgspec.Struct):
    """A button; it does one of the four."""

    text: str
    see: str
    fault: FaultOrder | None
    load: LoadOrder | None
    mark: str
    """Name of the checkpoint that it marks; empty for none."""
    recover: str
    """Name of the checkpoint that it recovers; empty for none."""


class MechanismPage(msgspec.Struct):
    paper: str
    mechanism: str
    name: str
    about: str
    page: str
    """Markdown."""
    cites: list[dict[str, str]]
    """What to read in the papers, as in a lab."""
    protocol: str
    servers: int
    look: list[Place]
    """Instruments and pages that show it."""
    steps: list[ShownStep]
    modelled: str


def rows() -> list[PaperRow]:
    """All papers with their mechanisms and experiments. Raises Malformed."""
    return [row_of(paper) for paper in papers()]


def row_of(paper: Paper) -> PaperRow:
    file = paper.file
    return PaperRow(
        paper.key, file.short, file.title, file.authors, file.published, file.about,
        [mechanism_row(paper.key, each) for each in paper.mechanisms],
        [ExperimentRow(each.name, each.section, each.asks, ran_at_s(each.name)) for each in file.experiments],
    )  # fmt: skip


def mechanism_row(paper: str, mechanism: Mechanism) -> MechanismRow:
    file = mechanism.file
    sections = [cited.section for cited in file.cites]
    return MechanismRow(paper, mechanism.key, file.name, file.about, sections, file.cluster.protocol)


def page_of(paper: str, name: str) -> MechanismPage:
    """Raises NotThere, Malformed."""
    mechanism = mechanism_named(paper, name)
    file = mechanism.file
    return MechanismPage(
        paper, mechanism.key, file.name, file.about, mechanism.page, msgspec.to_builtins(file.cites),
        file.cluster.protocol, file.cluster.groups * (file.cluster.standbys + 1), list(file.look),
        [step_of(each) for each in file.steps], file.modelled,
    )  # fmt: skip


def step_of(part: ShownPart) -> ShownStep:
    do = part.do
    fault = None if do.fault is None else FaultOrder(do.fault, targets(do), do.options)
    load = None
    if do.workload is not None:
        rate = do.workload.rate
        load = LoadOrder(None if rate is None else per_second(rate), do.workload.paused)
    return ShownStep(part.text, part.see, fault, load, do.mark or "", do.recover or "")


def experiment_named(name: str) -> tuple[Paper, ExperimentPart]:
    """Raises NotThere, Malformed."""
    for paper in papers():
        for experiment in paper.file.experiments:
            if experiment.name == name:
                return paper, experiment
    raise NotThere(f"no experiment is called {name[:40]!r}; GET /api/papers lists them")
