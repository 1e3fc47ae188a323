"""What every check has in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from nodes.trace.base import Event
from nodes.trace.events import CheckFailed, Stamped

FAILURES_KEPT = 100
SECOND = 1_000_000_000
PATIENCE_NS = 10 * SECOND
"""How long, in the time of events, a fact may wait for its counterpart from another server's trace."""


class Checker(Protocol):
    """One invariant. Events of one server come in their order; those of different servers in any."""

    name: ClassVar[str]
    meaning: ClassVar[str]
    checked: int
    """Facts that were found to be right."""
    failures: list[CheckFailed]

    def on_event(self, stamped: Stamped) -> None: ...

    def finish(self) -> None:
        """No more events come: what still waits for its counterpart is a failure."""


class Check:
    """Base of the checks: a table from the kind of event to the step that takes it."""

    name: ClassVar[str] = ""
    meaning: ClassVar[str] = ""

    def __init__(self) -> None:
        self.checked = 0
        self.failures: list[CheckFailed] = []
        self.always = True
        """Whether any history in which a change was acknowledged gives it something to check."""
        self.unable = ""
        """Why the check cannot go on, though nothing has been found wrong; empty when it can."""
        self.steps: dict[type[Event], Callable[[Stamped, Any], None]] = {}

    def on_event(self, stamped: Stamped) -> None:
        step = self.steps.get(type(stamped.event))
        if step is not None:
            step(stamped, stamped.event)

    def on_time(self, now_ns: int) -> None:
        """Called about once in a second of the events' time."""

    def finish(self) -> None:
        """Nothing is left to check unless a check says so."""

    def fail(self, explanation: str, *evidence: tuple[str, int]) -> None:
        if len(self.failures) < FAILURES_KEPT:
            self.failures.append(CheckFailed(self.name, explanation, list(evidence)))


def place_in_trace(stamped: Stamped) -> tuple[str, int]:
    """How evidence names an event."""
    return stamped.server, stamped.number
