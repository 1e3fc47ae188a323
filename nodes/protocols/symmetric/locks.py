"""The locking service of the transaction control (SAA §6, Table 1): pure.

Who asks has a place in the total order. At every member locks are granted in that order, whatever comes when: nobody waits for one behind it,
so that there is no deadlock, and every member grants the same.
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
"""What is locked: a name `/a/b`, what it leads to `/a/b/`, a session `@client`, a call `@client#number`, an
inode by its number."""
Place = tuple[int, int]
"""(sn, position in its group)."""


class Wanted(NamedTuple):
    """What one transaction locks: read mode for what it only looks at, update and then write mode for what it changes."""

    looks: Collection[Thing]
    changes: Collection[Thing]


class Locks:
    """Of one member: who has asked for what, and what of it is granted."""

    def __init__(self) -> None:
        self._wanted: dict[Place, Wanted] = {}
        self._granted: set[Place] = set()
        self._changers: dict[Thing, list[Place]] = {}
        """Those who change a thing, granted or not, in their order."""
        self._write_until: Place = (0, 0)

    # --- in the total order --------------------------------------------------------------------------------------------

    def ask(self, place: Place, wanted: Wanted) -> None:
        """Takes a place in the queue of each thing, behind everybody who has asked before; granted is nothing yet."""
        self._wanted[place] = wanted
        for thing in wanted.changes:
            self._changers.setdefault(thing, []).append(place)

    def grant(self, place: Place) -> bool:
        """All that was asked for, in read and update mode, or nothing.

        Both modes exclude write mode, and write mode is what an earlier one that changes a thing will have in the end. An earlier one that only
        looks is no obstacle: it is gone when this one writes.
        """
        changers = self._changers
        for things in self._wanted[place]:
            for thing in things:
                if thing in changers and changers[thing][0] < place:
                    return False
        self._granted.add(place)
        return True

    def upgrade(self, until: Place) -> None:
        """Everybody up to this place is ready to be submitted and asks for write mode: from now on no reader passes before it."""
        self._write_until = until

    def release(self, place: Place) -> None:
        """After the transaction was submitted or rolled back."""
        self._granted.discard(place)
        for thing in self._wanted.pop(place).changes:
            places = self._changers[thing]
            places.remove(place)
            if not places:
                del self._changers[thing]

    # --- readers -------------------------------------------------------------------------------------------------------

    def writer_of(self, things: Iterable[Thing], until: Place) -> Place | None:
        """The last one up to `until` that keeps a reader of these things out; an update lock does not."""
        last = min(until, self._write_until)
        found: Place | None = None
        for thing in things:
            places = self._changers.get(thing, ())
            index = bisect_right(places, last)
            if index and (found is None or places[index - 1] > found):
                found = places[index - 1]
        return found

    # --- what is held -----------------------------------------------------------------------------------------------------

    def held(self) -> dict[Thing, dict[Place, Mode]]:
        """By thing; who has asked for write mode has it when nobody else holds what that excludes."""
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
