"""Deadlines of questions with one common timeout. All share one timer, because nearly every question is answered in time."""

from __future__ import annotations

from collections.abc import Callable

from nodes.config import MILLISECOND
from nodes.trace.present import Cause
from nodes.world import World


class Deadlines:
    """Calls `expire(number)` for each question that is still open `wait_ns` after it began, at most a millisecond late."""

    def __init__(self, world: World, wait_ns: int, expire: Callable[[int], None]):
        self._clock = world.clock
        self._trace = world.trace
        self._wait_ns = wait_ns
        self._expire = expire
        self._open: dict[int, tuple[int, Cause]] = {}
        """Due time and cause of each open question, the oldest first."""
        self._armed = False

    def begin(self, number: int) -> None:
        self._open[number] = (self._clock.monotonic_ns() + self._wait_ns, self._trace.at())
        if not self._armed:
            self._arm(self._wait_ns)

    def end(self, number: int) -> None:
        self._open.pop(number, None)

    def _arm(self, after_ns: int) -> None:
        self._armed = True
        self._clock.call_later(after_ns, self._look)

    def _look(self) -> None:
        self._armed = False
        now_ns = self._clock.monotonic_ns()
        while self._open:
            number, (due_ns, cause) = next(iter(self._open.items()))
            if due_ns > now_ns:
                self._arm(max(due_ns - now_ns, MILLISECOND))
                return
            del self._open[number]
            self._trace.follows(cause)
            self._expire(number)
