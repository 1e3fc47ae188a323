"""same order: symmetric members deliver the same sequence of messages (nodes/invariants/README.md, safety rule 5; SAA §4.2)."""

from __future__ import annotations

from nodes.invariants.checker import Check, place_in_trace
from nodes.invariants.journals import KEPT, forget_oldest
from nodes.trace.events import Delivered, Stamped


class SameOrder(Check):
    name = "same order"
    meaning = "all members of a view deliver the same messages in the same order, without a gap"
    counts = "deliveries"

    def __init__(self) -> None:
        super().__init__()
        self.always = False
        self.steps = {Delivered: self._on_delivered}
        self._sequence: dict[tuple[int, int], tuple[str, int, tuple[str, int]]] = {}
        """(view, sn) to the first message that was delivered there, and the event that reports it."""
        self._last: dict[tuple[str, int], tuple[int, tuple[str, int]]] = {}
        """(server, view) to the sn of its last delivery and the event."""

    def _on_delivered(self, stamped: Stamped, event: Delivered) -> None:
        self._compare(stamped, event)
        last = self._last.get((stamped.server, event.view))
        if last is not None and event.sn != last[0] + 1:
            self.fail(
                f"{stamped.server} delivered group {event.sn} behind group {last[0]} in view {event.view}",
                last[1],
                place_in_trace(stamped),
            )
        self._last[stamped.server, event.view] = (event.sn, place_in_trace(stamped))
        forget_oldest(self._last)

    def _compare(self, stamped: Stamped, event: Delivered) -> None:
        key = (event.view, event.sn)
        first = self._sequence.get(key)
        if first is None:
            self._sequence[key] = (event.sender, event.counter, place_in_trace(stamped))
            forget_oldest(self._sequence, KEPT)
        elif first[:2] == (event.sender, event.counter):
            self.checked += 1
        else:
            self.fail(
                f"{stamped.server} delivered message {event.counter} of {event.sender} as group {event.sn} of view "
                f"{event.view}, where {first[2][0]} delivered message {first[1]} of {first[0]}",
                first[2],
                place_in_trace(stamped),
            )
