"""The common parts of all checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from nodes.trace.base import Event
from nodes.trace.events import CheckFailed, Stamped

FAILURES_KEPT = 100
SECOND = 1_000_000_000
PATIENCE_NS = 10 * SECOND
"""Longest time, in the time of events, for which a fact may wait for its counterpart from another server's trace."""


class Check:
    """One invariant: a table from the kind of event to the step that takes it. Events of one server arrive in order, those of different servers
    in any order.
    """

    name: ClassVar[str] = ""
    meaning: ClassVar[str] = ""
    counts: ClassVar[str] = ""
    """What `checked` counts, in the plural."""

    def __init__(self) -> None:
        self.checked = 0
        self.failures: list[CheckFailed] = []
        self.always = True
        """Whether any history with an acknowledged change gives this check something to check."""
        self.unable = ""
        """Reason why the check cannot continue, though it has found no failure; empty when it can."""
        self.steps: dict[type[Event], Callable[[Stamped, Any], None]] = {}

    def on_event(self, stamped: Stamped) -> None:
        step = self.steps.get(type(stamped.event))
        if step is not None:
            step(stamped, stamped.event)

    def on_time(self, now_ns: int) -> None:
        """Called about once per second of the events' time."""

    def finish(self) -> None:
        """The end of all events. A check without waiting facts has nothing left to do."""

    def verdict(self) -> Check:
        """A check of the same kind that has found the same, without a state."""
        found = object.__new__(type(self))
        Check.__init__(found)
        found.checked, found.failures = self.checked, self.failures
        found.always, found.unable = self.always, self.unable
        return found

    def fail(self, explanation: str, *evidence: tuple[str, int]) -> None:
        if len(self.failures) < FAILURES_KEPT:
            self.failures.append(CheckFailed(self.name, explanation, list(evidence)))


def place_in_trace(stamped: Stamped) -> tuple[str, int]:
    """The reference to an event as evidence."""
    return stamped.server, stamped.number
