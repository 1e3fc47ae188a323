"""Follows the traces of all processes and merges them, with the fabric's own events, into one stream ordered by time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from nodes.trace.events import Stamped
from nodes.trace.files import TraceDamaged

HOLD_BACK_NS = 30_000_000
"""Time for which an event waits for older ones of other servers: a server writes its trace at the end of a turn."""


AHEAD_NS = 1_000_000_000
"""How far the clock of another machine may seem to be ahead."""


TIMES = ("invoked_ns", "returned_ns", "lacking_ns")
"""Fields of events that are on the clock of `at_ns`; 0 for none."""


def moved(stamped: Stamped, at_ns: int) -> Stamped:
    """The event at another time; the times within a call move with it."""
    event, by_ns = stamped.event, at_ns - stamped.at_ns
    times = {name: time_ns + by_ns for name in TIMES if (time_ns := getattr(event, name, 0))}
    if times:
        event = msgspec.structs.replace(event, **times)
    return msgspec.structs.replace(stamped, at_ns=at_ns, event=event)


class Source(Protocol):
    """One server's trace."""

    def read(self) -> list[Stamped]:
        """Events since the last call, in order."""


class Traces:
    """The merged stream. `positions` are the last stored event numbers, so a kill of the control plane loses nothing."""

    def __init__(
        self, positions: dict[str, int], on_damaged: Callable[[str, str], None], clock: Callable[[], int]
    ):
        """`on_damaged(server, line)` is called once for a server; nothing more is read of it. `clock` is that of the traces, in ns."""
        self._readers: dict[str, Source] = {}
        self._positions = dict(positions)
        self._waiting: list[tuple[int, Stamped]] = []
        """Events and the times at which they take their places in the stream."""
        self._newest_ns: dict[str, int] = {}
        """By server: the time of its last event that was placed."""
        self.hold_back_ns = HOLD_BACK_NS
        self._on_damaged = on_damaged
        self._clock = clock

    def follow(self, server: str, source: Source) -> None:
        self._readers.setdefault(server, source)

    def position(self, server: str) -> int:
        """Number of the server's last event that was delivered or stored."""
        return self._positions.get(server, 0)

    def add(self, stamped: Stamped) -> None:
        """Adds an event of the control plane itself."""
        self._waiting.append((stamped.at_ns, stamped))

    def take(self) -> list[Stamped]:
        """Events old enough to be in order; a later event is delivered when it arrives."""
        return self._taken(self._clock() - self.hold_back_ns)

    def take_all(self) -> list[Stamped]:
        return self._taken(1 << 62)

    def _taken(self, horizon_ns: int) -> list[Stamped]:
        for server, reader in list(self._readers.items()):
            try:
                self._place(server, self._unseen(server, reader.read()))
            except TraceDamaged as damaged:
                del self._readers[server]
                self._on_damaged(server, str(damaged))
        self._waiting.sort(key=lambda placed: placed[0])
        ready = 0
        while ready < len(self._waiting) and self._waiting[ready][0] <= horizon_ns:
            ready += 1
        taken, self._waiting = self._waiting[:ready], self._waiting[ready:]
        return [stamped for _, stamped in taken]

    def _place(self, server: str, found: list[Stamped]) -> None:
        """Puts a server's events into the stream, each behind its earlier ones. One with a time beyond now was written before the machine was
        started again, when its clock began anew: it gets the present time. The clock is read after the events, because reading them may take
        seconds on a busy machine."""
        newest, now_ns = self._newest_ns.get(server, 0), self._clock()
        for stamped in found:
            if stamped.at_ns > now_ns + AHEAD_NS:
                stamped = moved(stamped, now_ns)
            newest = max(newest, stamped.at_ns)
            self._waiting.append((newest, stamped))
        self._newest_ns[server] = newest

    def _unseen(self, server: str, found: list[Stamped]) -> list[Stamped]:
        last = self._positions.get(server, 0)
        if found and found[0].number <= last:
            found = [stamped for stamped in found if stamped.number > last]
        if found:
            self._positions[server] = found[-1].number
        return found
