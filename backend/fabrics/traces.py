"""Follows the traces of all processes and merges them, with the fabric's own events, into one stream ordered by time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from nodes.trace.events import Stamped
from nodes.trace.files import TraceDamaged

HOLD_BACK_NS = 30_000_000
"""Time for which an event waits for older ones of other servers: a server writes its trace at the end of a turn."""


class Source(Protocol):
    """One server's trace."""

    def read(self) -> list[Stamped]:
        """Events since the last call, in order."""


class Traces:
    """The merged stream. `positions` are the last stored event numbers, so a kill of the control plane loses nothing."""

    def __init__(self, positions: dict[str, int], on_damaged: Callable[[str, str], None]):
        """`on_damaged(server, line)` is called once for a server; nothing more is read of it."""
        self._readers: dict[str, Source] = {}
        self._positions = dict(positions)
        self._waiting: list[Stamped] = []
        self.hold_back_ns = HOLD_BACK_NS
        self._on_damaged = on_damaged

    def follow(self, server: str, source: Source) -> None:
        self._readers.setdefault(server, source)

    def position(self, server: str) -> int:
        """Number of the server's last event that was delivered or stored."""
        return self._positions.get(server, 0)

    def add(self, stamped: Stamped) -> None:
        """Adds an event of the control plane itself."""
        self._waiting.append(stamped)

    def take(self, now_ns: int) -> list[Stamped]:
        """Events old enough to be in order; a later event is delivered when it arrives."""
        for server, reader in list(self._readers.items()):
            try:
                self._waiting += self._unseen(server, reader.read())
            except TraceDamaged as damaged:
                del self._readers[server]
                self._on_damaged(server, str(damaged))
        self._waiting.sort(key=lambda stamped: stamped.at_ns)
        horizon = now_ns - self.hold_back_ns
        ready = 0
        while ready < len(self._waiting) and self._waiting[ready].at_ns <= horizon:
            ready += 1
        taken, self._waiting = self._waiting[:ready], self._waiting[ready:]
        return taken

    def take_all(self) -> list[Stamped]:
        return self.take(1 << 62)

    def _unseen(self, server: str, found: list[Stamped]) -> list[Stamped]:
        last = self._positions.get(server, 0)
        if found and found[0].number <= last:
            found = [stamped for stamped in found if stamped.number > last]
        if found:
            self._positions[server] = found[-1].number
        return found
