"""Real-time order: how far the history had certainly come when a call was invoked."""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

KEPT = 65_536


class Step(NamedTuple):
    """From `returned_ns` on, every new call must come after `position`."""

    returned_ns: int
    position: int
    evidence: tuple[str, int]


class RealTime:
    """The largest position among the calls that had returned, by time: a staircase."""

    def __init__(self) -> None:
        self._times: list[int] = []
        self._steps: list[Step] = []

    def returned(self, returned_ns: int, position: int, evidence: tuple[str, int]) -> None:
        """Mostly comes in the order of time; what comes late is put in its place."""
        steps = self._steps
        if not steps or (returned_ns > steps[-1].returned_ns and position > steps[-1].position):
            self._times.append(returned_ns)
            steps.append(Step(returned_ns, position, evidence))
            if len(steps) > 2 * KEPT:
                del steps[:KEPT], self._times[:KEPT]
            return
        if returned_ns <= steps[-1].returned_ns:
            self._insert(Step(returned_ns, position, evidence))

    def _insert(self, step: Step) -> None:
        index = bisect_left(self._times, step.returned_ns)
        if index and self._steps[index - 1].position >= step.position:
            return
        end = index
        while end < len(self._steps) and self._steps[end].position <= step.position:
            end += 1
        if end < len(self._steps) and self._times[end] == step.returned_ns:
            return
        self._steps[index:end] = [step]
        self._times[index:end] = [step.returned_ns]

    def before(self, invoked_ns: int) -> Step | None:
        """The furthest call that had returned before this moment."""
        times = self._times
        index = len(times) if times and times[-1] < invoked_ns else bisect_left(times, invoked_ns)
        return self._steps[index - 1] if index else None
