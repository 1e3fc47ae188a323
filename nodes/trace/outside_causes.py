"""Causes of events from outside the servers, which no message carries: no frame goes from a killed process to its successor, nor from ZooKeeper
to its watchers. Real fabrics need this; the simulator stamps such events like all others."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from nodes.trace.events import (
    Configured,
    EpochRaised,
    FaultEnded,
    FaultInjected,
    LockHeld,
    Placed,
    ProcessEnded,
    SessionEnded,
    Stamped,
    Started,
)
from nodes.trace.present import MICROSECOND, UNKNOWN, Cause

ROOT = "/cloverlab/groups/"
RECENT_NS = 500_000_000
"""Longest time between a change and its watch. An ensemble that is observed from outside reports its changes to the control plane later by so
much."""


class OutsideCauses:
    """The faults by target server, and the changes by node of the coordination tree, each with its time."""

    def __init__(self, events: Iterable[Stamped]):
        self._faulted: dict[str, list[tuple[int, Cause]]] = {}
        self._changed: dict[str, list[tuple[int, Cause]]] = {}
        self._holder: dict[str, str] = {}
        self._lost: dict[Cause, str] = {}
        """The previous holder of each lock that an event reports as free."""
        for stamped in sorted(events, key=lambda each: each.at_ns):
            self._note(stamped)

    def _note(self, stamped: Stamped) -> None:
        event, place = stamped.event, (stamped.server, stamped.number)
        if isinstance(event, FaultInjected | FaultEnded):
            for target in event.targets:
                self._faulted.setdefault(target, []).append((stamped.at_ns, place))
        elif isinstance(event, LockHeld):
            if not event.owner:
                self._lost[place] = self._holder.get(event.group, "")
            self._holder[event.group] = event.owner
        path = node_of(stamped)
        if path:
            self._changed.setdefault(path, []).append((stamped.at_ns, place))

    def cause_of(self, stamped: Stamped) -> Cause:
        """The cause of an event without one: the last fault event that named the server whose process, session or place began or ended."""
        event = stamped.event
        if isinstance(event, Started):
            return self._last(self._faulted.get(stamped.server), stamped.at_ns)
        if isinstance(event, ProcessEnded | SessionEnded) or (isinstance(event, Placed) and not event.state):
            return self._last(self._faulted.get(event.server), stamped.at_ns)
        lost = self._lost.get((stamped.server, stamped.number))
        return self._last(self._faulted.get(lost), stamped.at_ns) if lost else UNKNOWN

    def event_of(self, cause: Cause) -> Cause:
        """The event of a watch's change, which the cause names by path and time in microseconds. Other causes are returned as they are."""
        path, at_us = cause
        if not path.startswith("/"):
            return cause
        changes, at_ns = self._changed.get(path, []), (at_us + 1) * MICROSECOND
        later = bisect_right(changes, at_ns, key=lambda change: change[0])
        if later and at_ns - changes[later - 1][0] < RECENT_NS:
            return changes[later - 1][1]
        if later < len(changes) and changes[later][0] - at_ns < RECENT_NS:
            return changes[later][1]
        return UNKNOWN

    @staticmethod
    def _last(changes: list[tuple[int, Cause]] | None, at_ns: int) -> Cause:
        later = bisect_right(changes or [], at_ns, key=lambda change: change[0])
        return changes[later - 1][1] if changes and later else UNKNOWN


def node_of(stamped: Stamped) -> str:
    """The node of the coordination tree whose change an event reports; empty for none."""
    event = stamped.event
    if isinstance(event, LockHeld):
        return f"{ROOT}{event.group}/lock"
    if isinstance(event, Placed):
        return f"{ROOT}{event.group}/view/{event.server}"
    if isinstance(event, EpochRaised):
        return f"{ROOT}{event.group}/epoch"
    if isinstance(event, Configured):
        return f"{ROOT}{event.group}/configuration"
    return ""
