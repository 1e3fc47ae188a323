"""One search as far as its process has reported it: figures, their curve over time, failures and what they shrink to."""

from __future__ import annotations

from typing import Literal

import msgspec

from backend.errors import NotThere
from backend.searches.reports import Figures, Report, SearchEnd, Shrinking, SmallestFound
from backend.searches.wish import MINUTES_MAX, SearchWish
from nodes.explore.plan import PlanOutcome

POINTS_MAX = 240
Kind = tuple[str, str, str]
SearchState = Literal["running", "ended", "stopped", "failed"]


class CurvePoint(msgspec.Struct, frozen=True):
    """Seeds and coverage so many seconds after the beginning."""

    at_s: float
    seeds: int
    coverage: int


class SearchCurve:
    """The figures over time, ever coarser: at most `POINTS_MAX` points, the newest always among them."""

    def __init__(self, points: list[CurvePoint] | None = None) -> None:
        self._points = points or [CurvePoint(0.0, 0, 0)]
        self._newest: CurvePoint | None = None
        self._every_s = 0.5

    @property
    def points(self) -> list[CurvePoint]:
        return [*self._points, *([self._newest] if self._newest is not None else [])]

    def add(self, point: CurvePoint) -> None:
        self._newest = point
        if point.at_s - self._points[-1].at_s < self._every_s:
            return
        self._points.append(point)
        self._newest = None
        if len(self._points) >= POINTS_MAX:
            self._points = self._points[::2]
            self._every_s *= 2


class KnownFailure(msgspec.Struct):
    """A kind of failure, with the smallest plan that shows it."""

    number: int
    outcome: PlanOutcome
    count: int = 0
    state: Literal["found", "shrinking", "shrunk", "partly shrunk"] = "found"
    trials: int = 0
    """Trials that shrinking took so far."""
    faults: int = 0
    """Faults and calls of the smallest plan."""
    calls: int = 0
    note: str = ""
    """Why it could not be shrunk."""

    def becomes(self, outcome: PlanOutcome) -> None:
        self.outcome = outcome
        self.faults, self.calls = len(outcome.plan.faults), outcome.plan.calls

    @property
    def kind(self) -> Kind:
        failure = self.outcome.failures[0]
        return self.outcome.plan.cluster.protocol, failure.invariant, failure.place


class Search:
    """Receives the reports of its process."""

    def __init__(self, wish: SearchWish, jobs: int):
        self.wish = wish
        self.jobs = jobs
        self.state: SearchState = "running"
        self.note = ""
        """Why it ended before its end."""
        self.figures = Figures()
        self.curve = SearchCurve()
        self.failures: dict[Kind, KnownFailure] = {}

    def on_report(self, report: Report) -> None:
        if isinstance(report, Figures):
            self._note(report)
        elif isinstance(report, SmallestFound):
            self._found(report.outcome)
        elif isinstance(report, SearchEnd):
            self.state, self.note = report.how, report.note

    def _note(self, figures: Figures) -> None:
        self.figures = figures
        self.curve.add(CurvePoint(figures.took_s, figures.seeds, figures.coverage))
        for family, invariant, place, count in figures.counts:
            known = self.failures.get((family, invariant, place))
            if known is not None:
                known.count = count

    def _found(self, outcome: PlanOutcome) -> None:
        failure = outcome.failures[0]
        kind = (outcome.plan.cluster.protocol, failure.invariant, failure.place)
        known = self.failures.get(kind)
        if known is None:
            known = self.failures[kind] = KnownFailure(len(self.failures) + 1, outcome)
        if known.state == "found":
            known.becomes(outcome)

    def failure(self, number: int) -> KnownFailure:
        """Raises NotThere."""
        for known in self.failures.values():
            if known.number == number:
                return known
        raise NotThere(f"this search has no failure {number}")

    @property
    def seeds_per_s(self) -> float:
        return self.figures.seeds / self.figures.took_s if self.figures.took_s else 0.0

    @property
    def left_s(self) -> float | None:
        """Estimated time to its end; None before the first results."""
        if self.state != "running":
            return 0.0
        limit_s = 60 * (MINUTES_MAX if self.wish.minutes is None else self.wish.minutes)
        left_s = max(0.0, limit_s - self.figures.took_s)
        if self.wish.seeds is None:
            return left_s
        if not self.figures.seeds:
            return None
        return min(left_s, (self.wish.seeds - self.figures.seeds) / self.seeds_per_s)


def on_shrink_report(known: KnownFailure, report: Report) -> None:
    """Receives the reports of a process that shrinks this failure."""
    if isinstance(report, Shrinking):
        known.trials, known.faults, known.calls = report.trials, report.faults, report.calls
    elif isinstance(report, SmallestFound):
        known.becomes(report.outcome)
    elif isinstance(report, SearchEnd):
        known.state = "shrunk" if report.how == "ended" else "partly shrunk"
