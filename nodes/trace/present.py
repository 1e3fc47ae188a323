"""What led to what: the cause that a world remembers while it handles something, and hands on to all that follows from it.

A cause is an event, by its server and its number there, or a client's call, by its session and its number there. Callbacks run with the cause
that was present when they were asked for, messages carry the one with which they were sent, and an event is itself the cause of what comes
next in the same turn.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from nodes.wire.codec import NAME_MOST, NUMBER_MOST
from nodes.wire.messages import CheckOperation, Message, Request

Cause = tuple[str, int]
"""(server, number of its event) or (session, number of its call)."""
UNKNOWN: Cause = ("", 0)
OF_CALLS = frozenset((Request, CheckOperation))
"""Messages that name their cause themselves."""
MICROSECOND = 1_000


@runtime_checkable
class Causal(Protocol):
    """Whoever remembers the present cause."""

    cause: Cause
    """Of what happens now: the last event of this turn, else what led to the turn."""
    began: Cause
    """What led to this turn: timers go on with it, so that each round of a loop follows from what began the loop, not from the last round."""


class Present:
    """Remembers it for a world whose event loop does not."""

    __slots__ = ("began", "cause")

    def __init__(self) -> None:
        self.cause = self.began = UNKNOWN


def causal(loop: object) -> Causal:
    """Who remembers the present cause on this event loop; on one that does not, causes go no further than the turn."""
    return loop if isinstance(loop, Causal) else Present()


class Causeless:
    """Of the trace of a client within another process, whose event loop remembers nothing."""

    def at(self) -> Cause:
        return UNKNOWN

    def follows(self, cause: Cause) -> None:
        """Nothing is told with it."""


def change_of(path: str, at_ns: int) -> Cause:
    """A change of a node of the coordination tree, named by its path and the time in microseconds at which a server was told."""
    return (path, at_ns // MICROSECOND) if len(path) <= NAME_MOST else UNKNOWN


def cause_of(message: Message, sent_with: Cause) -> Cause:
    """Of what a message leads to: a client's request names the call that it belongs to."""
    if type(message) in OF_CALLS:
        return message.session, message.number  # type: ignore[attr-defined]
    return sent_with


def told(cause: Cause) -> Cause:
    """As it is written and sent: what a client named too long or too high is not known. Looked at here, not at every request."""
    name, number = cause
    return cause if len(name) <= NAME_MOST and 0 < number <= NUMBER_MOST else UNKNOWN
