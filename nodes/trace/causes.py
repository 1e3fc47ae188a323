"""Walks from any event back to the call or fault that caused it, and forward to all its effects: an index over events of many servers."""

from __future__ import annotations

from collections.abc import Iterable

from nodes.trace.events import Called, Committed, Invoked, Stamped
from nodes.trace.outside_causes import OutsideCauses
from nodes.trace.present import UNKNOWN, Cause

STEPS_MOST = 10_000
"""Largest number of steps of one walk back: a foreign trace may contain any references."""


def place_of(stamped: Stamped) -> Cause:
    """The name of an event as a cause."""
    return stamped.server, stamped.number


def stamped_cause(stamped: Stamped) -> Cause:
    return (stamped.cause_server or stamped.server, stamped.cause) if stamped.cause else UNKNOWN


class Causes:
    """An index over a list of events in any order. A reference to an event outside the list ends a walk.

    A journal group has one cause, the call that opened it. The other calls that it answers lead to its `Committed`, which names them.
    """

    def __init__(self, events: Iterable[Stamped]):
        self.events: dict[Cause, Stamped] = {}
        self._order: dict[Cause, int] = {}
        self._calls: dict[Cause, Stamped] = {}
        """Calls as their clients reported them, by (session, number)."""
        self._followers: dict[Cause, list[Stamped]] = {}
        self._causes: dict[Cause, Cause] = {}
        reported = list(events)
        outside = OutsideCauses(reported)
        for stamped in reported:
            self._add(stamped, stamped_cause(stamped) if stamped.cause else outside.cause_of(stamped))
        for place, cause in list(self._causes.items()):
            self._follows(place, outside.event_of(cause))
        for stamped in reported:
            if isinstance(stamped.event, Called) and not stamped.cause:
                self._follows(place_of(stamped), self._answered_by(stamped, stamped.event))

    def _follows(self, place: Cause, cause: Cause) -> None:
        self._causes[place] = cause
        if cause != UNKNOWN:
            self._followers.setdefault(cause, []).append(self.events[place])

    def _add(self, stamped: Stamped, cause: Cause) -> None:
        event, place = stamped.event, place_of(stamped)
        self._order[place] = len(self._order)
        self.events[place] = stamped
        self._causes[place] = cause
        if isinstance(event, Called | Invoked):
            self._calls.setdefault((event.client, event.number), stamped)
        elif isinstance(event, Committed):
            for client, number in event.operations:
                if client:
                    self._followers.setdefault((client, number), []).append(stamped)

    def _answered_by(self, stamped: Stamped, event: Called) -> Cause:
        """The cause of a client's report, as answers carry none: the last commit of the call before it, else the call itself.

        A commit that follows from a takeover is not taken: a later copy of the call was answered.
        """
        call = (event.client, event.number)
        commits = [
            each
            for each in self._followers.get(call, ())
            if isinstance(each.event, Committed) and each.at_ns <= stamped.at_ns
        ]
        if not commits:
            return call
        last = place_of(max(commits, key=lambda each: each.at_ns))
        return last if self.call(self.walk(last)[0]) is not None else call

    def call(self, place: Cause) -> Stamped | None:
        """The client's report of the call with this name."""
        return self._calls.get(place)

    def order(self, place: Cause) -> int:
        """The rank of an event in the given order; a call comes before all events."""
        return self._order.get(place, -1)

    def root(self, stamped: Stamped) -> Cause:
        """The call, fault or start from which an event follows; the event's own place when no cause is known."""
        return self.walk(place_of(stamped))[0]

    def back(self, stamped: Stamped) -> list[Stamped]:
        """The causes of an event, oldest first, and the event itself. A call is represented by its client's report."""
        return [self.events.get(place) or self._calls[place] for place in self.walk(place_of(stamped))]

    def walk(self, place: Cause) -> list[Cause]:
        """The way from the oldest known event or call to the named one; empty when that one is unknown."""
        places: list[Cause] = []
        seen: set[Cause] = set()
        while (
            place not in seen and len(places) < STEPS_MOST and (place in self.events or place in self._calls)
        ):
            seen.add(place)
            places.append(place)
            place = self._causes.get(place, UNKNOWN)
        return places[::-1]

    def forward(self, stamped: Stamped) -> list[tuple[int, Stamped]]:
        """The event and all its effects, each with its depth, causes before effects. For a client's report of a call, all effects of the call."""
        found: list[tuple[int, Stamped]] = []
        seen: set[Cause] = set()
        waiting = [(0, stamped)]
        while waiting:
            depth, each = waiting.pop()
            if place_of(each) in seen:
                continue
            seen.add(place_of(each))
            found.append((depth, each))
            followers = list(self._followers.get(place_of(each), ()))
            if each is stamped and isinstance(each.event, Called | Invoked):
                followers += self._followers.get((each.event.client, each.event.number), ())
            followers.sort(key=lambda follower: -follower.at_ns)
            waiting += [(depth + 1, follower) for follower in followers]
        return found
