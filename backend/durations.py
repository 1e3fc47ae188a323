"""Durations counted into the buckets of a histogram, as Prometheus has them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence


class Durations:
    """`bounds` are the upper ends of the buckets in seconds; one more bucket has no end."""

    def __init__(self, bounds: Sequence[float]):
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self.sum_s = 0.0

    def add(self, duration_s: float) -> None:
        self._counts[bisect_left(self._bounds, duration_s)] += 1
        self.sum_s += duration_s

    def cumulative(self) -> list[tuple[str, float]]:
        """The number of durations up to each bound, with the bound as text."""
        found, total = [], 0
        for bound, count in zip([*map(str, self._bounds), "+Inf"], self._counts, strict=True):
            total += count
            found.append((bound, float(total)))
        return found
