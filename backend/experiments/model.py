"""What an experiment of the papers is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec

Point = tuple[float, float]


class Chart(msgspec.Struct, frozen=True):
    """The paper's plot with our figures; what the paper gives in numbers is a series of its own."""

    title: str
    x_title: str
    y_title: str
    series: dict[str, list[Point]]
    kind: Literal["curves", "bars"] = "curves"
    """Bars stand side by side at the same x."""
    x_names: list[str] = []
    """Of bars, in the order of their x; the numbers themselves when there are none."""
    logarithmic: bool = False
    """The y axis; every y is above 0."""


class Outcome(msgspec.Struct, frozen=True):
    config: dict[str, Any]
    figures: dict[str, float]
    paper: dict[str, float]
    """The paper's figures under the same keys, as far as it gives them."""
    chart: Chart
    notes: list[str] = []
    """What a reader of the figures must know."""


class Experiment(msgspec.Struct, frozen=True):
    name: str
    paper: str
    """Where in which paper."""
    says: str
    run: Callable[[bool], Outcome]
    """Given True it is small: the same work at a few points, for its shape."""
