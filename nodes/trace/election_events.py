"""The event of an election by drawn numbers."""

from __future__ import annotations

from nodes.trace.base import Event


class Drawn(Event, frozen=True, array_like=True, gc=False):
    """The draws of an election as a contender has read them, and its conclusion (CFS §4.2.1, Algorithm 2)."""

    group: str
    round: int
    draws: list[tuple[str, int, int, int]]
    """(server, epoch and sn of its journal's end, number) of each contender that has drawn."""
    winner: str
    """The server that should take the lock; empty when no contender has drawn."""
    by: str
    """What decides: `journal` when one ends later than all others, else `number`; `alone` for a single draw."""
