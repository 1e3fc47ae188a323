"""The locking service of the transaction control (SAA §6, Table 1): pure.

Each transaction has a place in the total order, and every member grants locks in that order. A transaction never waits for a later one, so there
is no deadlock, and all members grant the same locks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable
from enum import StrEnum
from typing import NamedTuple


class Mode(StrEnum):
    READ = "read"
    UPDATE = "update"
    WRITE = "write"


EXCLUDES: dict[Mode, frozenset[Mode]] = {
    Mode.READ: frozenset({Mode.WRITE}),
    Mode.UPDATE: frozenset({Mode.UPDATE, Mode.WRITE}),
    Mode.WRITE: frozenset(Mode),
}
"""Table 1."""

Thing = str | int
"""Object of a lock: a name `/a/b`, its target `/a/b/`, a session `@client`, a call `@client#number`, or an
inode by its number."""
Place = tuple[int, int]
"""(sn, position in its group)."""


class WantedLocks(NamedTuple):
    """The locks of one transaction: read mode for what it only reads, update and then write mode for what it changes."""

    looks: Collection[Thing]
    changes: Collection[Thing]


class MemberLocks:
    """The requested and granted locks of one member."""

    def __init__(self) -> None:
        self._wanted: dict[Place, WantedLocks] = {}
        self._granted: set[Place] = set()
        self._changers: dict[Thing, list[Place]] = {}
        """Transactions that change a thing, granted or not, in the total order."""
        self._write_until: Place = (0, 0)

    # --- in the total order --------------------------------------------------------------------------------------------

    def ask(self, place: Place, wanted: WantedLocks) -> None:
        """Queues a transaction for each of its things, after all earlier ones. It grants nothing yet."""
        self._wanted[place] = wanted
        for thing in wanted.changes:
            self._changers.setdefault(thing, []).append(place)

    def grant(self, place: Place) -> bool:
        """Grants all requested locks, in read and update mode, or none.

        Both modes exclude write mode, and an earlier transaction that changes a thing will hold write mode in the end. An earlier one that only
        reads is no obstacle: it has ended when this one writes.
        """
        changers = self._changers
        for things in self._wanted[place]:
            for thing in things:
                if thing in changers and changers[thing][0] < place:
                    return False
        self._granted.add(place)
        return True

    def upgrade(self, until: Place) -> None:
        """Transactions up to this place are ready to be submitted and request write mode, which blocks new readers."""
        self._write_until = until

    def release(self, place: Place) -> None:
        """Releases the locks of a submitted or rolled-back transaction."""
        self._granted.discard(place)
        for thing in self._wanted.pop(place).changes:
            places = self._changers[thing]
            places.remove(place)
            if not places:
                del self._changers[thing]

    # --- readers -------------------------------------------------------------------------------------------------------

    def writer_of(self, things: Iterable[Thing], until: Place) -> Place | None:
        """The last transaction up to `until` that blocks a reader of these things. An update lock does not block."""
        last = min(until, self._write_until)
        found: Place | None = None
        for thing in things:
            places = self._changers.get(thing, ())
            index = bisect_right(places, last)
            if index and (found is None or places[index - 1] > found):
                found = places[index - 1]
        return found

    # --- held locks -------------------------------------------------------------------------------------------------------

    def held(self) -> dict[Thing, dict[Place, Mode]]:
        """The held locks by thing. A request for write mode is granted when no other transaction holds an excluded mode."""
        holders: dict[Thing, dict[Place, Mode]] = {}
        for place in self._granted:
            looks, changes = self._wanted[place]
            for thing in looks:
                holders.setdefault(thing, {})[place] = Mode.READ
            for thing in changes:
                holders.setdefault(thing, {})[place] = Mode.UPDATE
        for modes in holders.values():
            for place, mode in modes.items():
                others = [held for other, held in modes.items() if other != place]
                if mode is Mode.UPDATE and place <= self._write_until and _fits(Mode.WRITE, others):
                    modes[place] = Mode.WRITE
        return holders

    def count(self) -> dict[Mode, int]:
        """How many locks of each mode are held."""
        found = Counter(mode for modes in self.held().values() for mode in modes.values())
        return {mode: found[mode] for mode in Mode}


def _fits(mode: Mode, others: Iterable[Mode]) -> bool:
    return not any(other in EXCLUDES[mode] for other in others)
