"""An experiment of the papers, and its outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec

Point = tuple[float, float]


class Chart(msgspec.Struct, frozen=True):
    """The paper's plot with our figures; numbers that the paper gives form a series of their own."""

    title: str
    x_title: str
    y_title: str
    series: dict[str, list[Point]]
    kind: Literal["curves", "bars"] = "curves"
    """Bars with the same x stand side by side."""
    x_names: list[str] = []
    """Names of the bars, in the order of their x; empty to show the numbers."""
    logarithmic: bool = False
    """Whether the y axis is logarithmic; every y is then above 0."""


class ExperimentOutcome(msgspec.Struct, frozen=True):
    config: dict[str, Any]
    figures: dict[str, float]
    paper: dict[str, float]
    """The paper's figures under the same keys, where it gives them."""
    chart: Chart
    notes: list[str] = []
    """Notes that a reader of the figures needs."""


class Experiment(msgspec.Struct, frozen=True):
    name: str
    paper: str
    """Paper, section and figure."""
    says: str
    run: Callable[[bool], ExperimentOutcome]
    """Runs the experiment; with True it is small: the same work at a few points, for its shape."""
