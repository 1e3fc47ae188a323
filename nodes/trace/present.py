"""Causality: the cause that a world remembers while it handles an event, and that all effects inherit.

A cause is an event, named by its server and number, or a client's call, named by its session and number. A callback runs with the cause that
was present when it was scheduled. A message carries the cause with which it was sent. An event is the cause of later events in the same turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, groupby, repeat
from typing import Protocol, runtime_checkable

import msgspec

from nodes.wire.codec import NAME_MOST, NUMBER_MOST, Run
from nodes.wire.messages import Answer, Checked, CheckOperation, Message, Referred, Refused, Request

Cause = tuple[str, int]
"""(server, number of its event), or (session, number of its call)."""
UNKNOWN: Cause = ("", 0)


class Carried(tuple[str, int]):
    """A cause that a message brought to this server, and the kind of that message."""

    kind: str


Caused = tuple[list[Message], list[Cause]]
"""Messages, and the cause of each."""
REQUESTS = frozenset((Request, CheckOperation))
"""Messages of a client. Each names its own cause, the call."""
OF_CALLS = REQUESTS | {Answer, Checked, Refused, Referred}
"""Messages of one call, which leave a process without a cause. A client knows the call by its number, and a cause of each answer of a frame would
cost reads a tenth of their rate."""
MICROSECOND = 1_000


@runtime_checkable
class Causal(Protocol):
    """A holder of the present cause."""

    cause: Cause
    """Cause of the present step: the last event of this turn, else the cause of the turn."""
    began: Cause
    """Cause of this turn. Timers continue with it, so that each round of a loop follows from the beginning of the loop, not from the last round."""


class Present:
    """Holds the present cause for a world whose event loop does not."""

    __slots__ = ("began", "cause")

    def __init__(self) -> None:
        self.cause = self.began = UNKNOWN


def causal(loop: object) -> Causal:
    """The holder of the present cause on this event loop. On a loop without one, causes do not outlast the turn."""
    return loop if isinstance(loop, Causal) else Present()


class Causeless:
    """A holder without causes, for a client's trace within another process, whose event loop holds none."""

    def at(self) -> Cause:
        return UNKNOWN

    def follows(self, cause: Cause) -> None:
        """Ignores the cause."""


def change_of(path: str, at_ns: int) -> Cause:
    """The name of a change of a coordination node: its path, and the time in microseconds when a server was notified."""
    return (path, at_ns // MICROSECOND) if len(path) <= NAME_MOST else UNKNOWN


class WriterCause(msgspec.Struct):
    """The field of a node's JSON object that names the cause of its writer. Readers of the node ignore it."""

    cause: Cause = UNKNOWN


def with_cause(data: bytes, cause: Cause) -> bytes:
    """A node's JSON object with the cause of its writer, which a coordination service does not pass on."""
    known = reported(cause)
    if known == UNKNOWN or not data.startswith(b"{") or len(data) <= 2:
        return data
    return b'%b,"cause":%b}' % (data[:-1], msgspec.json.encode(known))


def cause_in(data: bytes | None) -> Cause:
    """The cause of the writer of a node; UNKNOWN for a removed node and for any other data."""
    try:
        return reported(msgspec.json.decode(data or b"", type=WriterCause).cause)
    except msgspec.DecodeError:
        return UNKNOWN


def cause_of(message: Message, sent_with: Cause) -> Cause:
    """The cause of a message's effects: a client's request names its own call."""
    if type(message) in REQUESTS:
        return message.session, message.number  # type: ignore[attr-defined]
    return sent_with


def carried(cause: Cause, message: Message) -> Carried:
    """The cause at the receiver of a message."""
    brought = Carried(cause)
    brought.kind = type(message).__name__
    return brought


def carrier_of(cause: Cause) -> str:
    """The kind of the message that brought the cause to this server; empty when none did."""
    return cause.kind if type(cause) is Carried else ""


def reported(cause: Cause) -> Cause:
    """The cause as it is written and sent. A name that is too long or a number that is too high becomes UNKNOWN. The check runs here and not at
    every request."""
    name, number = cause
    return cause if len(name) <= NAME_MOST and 0 < number <= NUMBER_MOST else UNKNOWN


def runs_of(causes: list[Cause]) -> list[Run]:
    """The causes of a frame's messages as they are sent: one run for neighbours with the same cause, and no run when no cause is known."""
    if causes.count(UNKNOWN) == len(causes):
        return []
    return [(*reported(cause), len(list(same))) for cause, same in groupby(causes)]


def causes_of(runs: list[Run]) -> Iterator[Cause]:
    """The cause of each message of a received frame; without end when no cause is known."""
    if not runs:
        return repeat(UNKNOWN)
    return chain.from_iterable(
        repeat((name, number) if number else UNKNOWN, count) for name, number, count in runs
    )
