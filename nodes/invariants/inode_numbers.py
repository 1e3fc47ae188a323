"""inode numbers are unique: no two creations return the same number, in any group and over every recovery (CFS §3.3, DCFS2 §2.1.3)."""

from __future__ import annotations

from nodes.invariants.calls import as_travelled, shown, tag_of
from nodes.invariants.checker import Check, place_in_trace
from nodes.trace.events import Called, Stamped

PAGE_BITS = 16
KEPT = 100_000


class InodeNumbers(Check):
    """Inode numbers of the whole cluster. A number is never assigned twice: neither after its inode is deleted, nor after a rollback to a
    checkpoint."""

    name = "inode numbers are unique"
    meaning = "no two creations are answered one inode number"
    counts = "creations"

    def __init__(self) -> None:
        super().__init__()
        self.always = False
        self.steps = {Called: self._on_called}
        self._given: dict[int, bytearray] = {}
        """Assigned numbers, one bit each, in pages."""
        self._newest: dict[int, tuple[tuple[str, int], tuple[str, int]]] = {}
        """By number: the call that made it, and the event, as evidence; only the newest."""

    def _on_called(self, stamped: Stamped, event: Called) -> None:
        tag = tag_of(event.operation)
        if event.error or tag not in ("Create", "Mkdir"):
            return
        if tag == "Mkdir" and as_travelled(event.operation)[2]:
            return
        result = as_travelled(event.result)
        if not result or result[0] != "Made":
            return
        number, call = result[1], (event.client, event.number)
        first = self._newest.get(number)
        if self._add(number):
            self.checked += 1
        elif first is None or first[0] != call:
            named = f"call {first[0][1]} of {first[0][0]}" if first is not None else "an earlier call"
            self.fail(
                f"call {event.number} of {event.client}, {shown(event.operation)}, was answered inode {number}, as {named} was",
                *([first[1]] if first is not None else []),
                place_in_trace(stamped),
            )
        self._newest[number] = call, place_in_trace(stamped)
        if len(self._newest) > KEPT:
            del self._newest[next(iter(self._newest))]

    def _add(self, number: int) -> bool:
        """Adds a number; False when it is already there."""
        page = self._given.get(number >> PAGE_BITS)
        if page is None:
            page = self._given[number >> PAGE_BITS] = bytearray(1 << (PAGE_BITS - 3))
        offset = number & ((1 << PAGE_BITS) - 1)
        bit = 1 << (offset & 7)
        new = not page[offset >> 3] & bit
        page[offset >> 3] |= bit
        return new
