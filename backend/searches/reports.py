"""The conversation with a search's process: a task as JSON, then reports as JSON lines."""

from __future__ import annotations

from typing import Literal

import msgspec

from nodes.config import Holes
from nodes.explore.plan import PlanOutcome
from nodes.mutations import Mutations


class SearchTask(msgspec.Struct, frozen=True, tag=True):
    protocols: tuple[str, ...]
    """Families, taken in turn."""
    holes: Holes
    mutations: Mutations
    first_seed: int
    seeds: int
    """Number of seeds; 0: as many as the time allows, steered by coverage."""
    until_s: float
    jobs: int


class ShrinkTask(msgspec.Struct, frozen=True, tag=True):
    outcome: PlanOutcome
    until_s: float


Task = SearchTask | ShrinkTask


class Figures(msgspec.Struct, frozen=True, tag=True):
    """Counts of a search so far."""

    took_s: float = 0.0
    seeds: int = 0
    beyond: int = 0
    """Trials with more damage than the family survives; only safety was judged."""
    calls: int = 0
    answered: int = 0
    checked: int = 0
    """Facts that the invariants found to be right."""
    coverage: int = 0
    """Features that were reached."""
    failed: int = 0
    counts: list[tuple[str, str, str, int]] = []
    """Failures by family, invariant and place."""


class SmallestFound(msgspec.Struct, frozen=True, tag=True):
    """A smaller plan of a kind of failure than any before."""

    outcome: PlanOutcome


class Shrinking(msgspec.Struct, frozen=True, tag=True):
    """The smallest plan so far that fails in the same way, and the trials that it took."""

    trials: int
    faults: int
    calls: int


class SearchEnd(msgspec.Struct, frozen=True, tag=True):
    how: Literal["ended", "stopped", "failed"]
    note: str = ""
    """Why it ended before its end."""


Report = Figures | SmallestFound | Shrinking | SearchEnd
