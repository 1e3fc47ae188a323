"""one primary view: symmetric members agree on each view, and an older one answers nothing behind a newer (safety rules 7, 9; SAA §3, §5.3)."""

from __future__ import annotations

import msgspec

from nodes.invariants.checker import Check, place_in_trace
from nodes.invariants.journals import forget_oldest
from nodes.trace.events import Called, Serving, Stamped

VIEWS_KEPT = 64
UNKNOWN = "ETIMEDOUT"
Evidence = tuple[str, int]


class View(msgspec.Struct):
    """What is known of one view."""

    members: list[str] = []
    start: tuple[int, int] = (0, 0)
    """(sn, CRC) of the last group of the views before."""
    told: Evidence | None = None
    """The first event that says so."""
    answered: dict[str, tuple[Evidence, int]] = {}
    """Each server to its first answer in this view: the event, and the number of the call."""
    first_return_ns: int = 0
    first_return: Evidence = ("", 0)
    last_invocation_ns: int = 0
    last_invocation: Evidence = ("", 0)


class OnePrimaryView(Check):
    name = "one primary view"
    meaning = (
        "a view of one number has the same members and the same beginning everywhere, only they answer in it, and none of them "
        "answers what was asked after a newer view has answered"
    )

    def __init__(self) -> None:
        super().__init__()
        self.steps = {Serving: self._on_serving, Called: self._on_called}
        self._views: dict[int, View] = {}
        self._newest: dict[str, tuple[int, Evidence]] = {}
        """Server to the last view that it has begun."""

    def _view(self, number: int) -> View:
        view = self._views.get(number)
        if view is None:
            view = self._views[number] = View(answered={})
            forget_oldest(self._views, VIEWS_KEPT)
        return view

    # --- who begins it ------------------------------------------------------------------------------------------------

    def _on_serving(self, stamped: Stamped, event: Serving) -> None:
        place = place_in_trace(stamped)
        self._rises(stamped.server, event.epoch, place)
        view = self._view(event.epoch)
        if view.told is None:
            view.members, view.start, view.told = event.members, (event.sn, event.crc), place
            for server in view.answered:
                self._belongs(event.epoch, view, server)
        elif (view.members, view.start) != (event.members, (event.sn, event.crc)):
            self.fail(
                f"there are two views {event.epoch}: {stamped.server} begins one of {' '.join(event.members)} behind group "
                f"{event.sn} (crc {event.crc:08x}), {view.told[0]} one of {' '.join(view.members)} behind group "
                f"{view.start[0]} (crc {view.start[1]:08x})",
                view.told,
                place,
            )
        if stamped.server not in event.members:
            self.fail(f"{stamped.server} begins view {event.epoch}, which is without it", place)
        self.checked += 1

    def _rises(self, server: str, number: int, place: Evidence) -> None:
        newest = self._newest.get(server)
        if newest is not None and number <= newest[0]:
            self.fail(f"{server} begins view {number} after view {newest[0]}", newest[1], place)
        self._newest[server] = (number, place)

    # --- who answers in it ----------------------------------------------------------------------------------------------

    def _on_called(self, stamped: Stamped, event: Called) -> None:
        if not event.epoch or event.error.startswith(UNKNOWN):
            return
        place, view = place_in_trace(stamped), self._view(event.epoch)
        if event.server not in view.answered:
            view.answered[event.server] = (place, event.number)
            self._belongs(event.epoch, view, event.server)
        if not view.first_return_ns or event.returned_ns < view.first_return_ns:
            view.first_return_ns, view.first_return = event.returned_ns, place
        if event.invoked_ns > view.last_invocation_ns:
            view.last_invocation_ns, view.last_invocation = event.invoked_ns, place
        self._is_newest(stamped, event)

    def _belongs(self, number: int, view: View, server: str) -> None:
        place, call = view.answered[server]
        if view.told is None or server in view.members:
            self.checked += 1
        else:
            self.fail(
                f"{server} answered call {call} in view {number}, which has the members {' '.join(view.members)}",
                view.told,
                place,
            )

    def _is_newest(self, stamped: Stamped, event: Called) -> None:
        """Answers come in any order: an older view may be heard of before or after a newer one."""
        for number, other in self._views.items():
            if number > event.epoch and 0 < other.first_return_ns < event.invoked_ns:
                self._late(event.epoch, place_in_trace(stamped), number, other.first_return)
                return
            if number < event.epoch and other.last_invocation_ns > event.returned_ns:
                self._late(number, other.last_invocation, event.epoch, place_in_trace(stamped))
                return
        self.checked += 1

    def _late(self, older: int, late: Evidence, newer: int, first: Evidence) -> None:
        self.fail(f"view {older} answered a call that was asked after view {newer} had answered", first, late)
