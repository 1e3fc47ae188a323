"""From any event back to the call or fault that led to it, and forward to everything that followed: an index over events of many servers."""

from __future__ import annotations

from collections.abc import Iterable

from nodes.trace.events import Called, Committed, Invoked, Stamped
from nodes.trace.outside import Outside
from nodes.trace.present import UNKNOWN, Cause

STEPS_MOST = 10_000
"""Of one walk back: a trace that others wrote may lead anywhere."""


def place_of(stamped: Stamped) -> Cause:
    """How an event is named as a cause."""
    return stamped.server, stamped.number


def stamped_cause(stamped: Stamped) -> Cause:
    """What its server said had led to it."""
    return (stamped.cause_server or stamped.server, stamped.cause) if stamped.cause else UNKNOWN


class Causes:
    """Over a list of events, in any order; what they refer to and is not among them ends a walk.

    A journal group has one cause, the call that opened it. The other calls that it answers lead to its `Committed`, which names them.
    """

    def __init__(self, events: Iterable[Stamped]):
        self.events: dict[Cause, Stamped] = {}
        self._order: dict[Cause, int] = {}
        self._calls: dict[Cause, Stamped] = {}
        """What clients told of their calls, by (session, number)."""
        self._followers: dict[Cause, list[Stamped]] = {}
        self._causes: dict[Cause, Cause] = {}
        told = list(events)
        outside = Outside(told)
        for stamped in told:
            self._add(stamped, stamped_cause(stamped) if stamped.cause else outside.cause_of(stamped))
        for place, cause in list(self._causes.items()):
            self._causes[place] = cause = outside.event_of(cause)
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

    def call(self, place: Cause) -> Stamped | None:
        """What a client told of the call that is named so."""
        return self._calls.get(place)

    def order(self, place: Cause) -> int:
        """Where an event stands among those that were given; a call before all of them."""
        return self._order.get(place, -1)

    def root(self, stamped: Stamped) -> Cause:
        """The call, fault or start that an event goes back to; its own place when nothing is known to have led to it."""
        return self.walk(place_of(stamped))[0]

    def back(self, stamped: Stamped) -> list[Stamped]:
        """What led to an event, oldest first, and the event itself; a call comes as what its client told of it."""
        return [self.events.get(place) or self._calls[place] for place in self.walk(place_of(stamped))]

    def walk(self, place: Cause) -> list[Cause]:
        """From the oldest event or call that is known here to the one that is named; empty when that one is not."""
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
        """The event and all that followed, each with its depth, a cause before what it led to; of what a client told of a call, all that
        followed on the call."""
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
