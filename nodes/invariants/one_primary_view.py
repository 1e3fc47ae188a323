"""one primary view: symmetric members agree on each view, and an older view answers nothing behind a newer one (safety rules 7, 9; SAA §3, §5.3).

A member of the newer view that does not know it yet may continue to read under its lease: no new answer is given there without it.
"""

from __future__ import annotations

import msgspec

from nodes.invariants.calls import UNKNOWN, WRITES, tag_of
from nodes.invariants.checker import Check, place_in_trace
from nodes.invariants.journals import forget_oldest
from nodes.trace.events import Called, Serving, Stamped

VIEWS_KEPT = 64
Evidence = tuple[str, int]


class Answers(msgspec.Struct):
    """The answers of one server in one view."""

    first: Evidence
    call: int
    last: dict[bool, tuple[int, Evidence]]
    """For writes (True) and reads: the latest time of an invocation, and its answer."""


class View(msgspec.Struct):
    """The known facts about one view."""

    answers: dict[str, Answers]
    members: list[str] = []
    start: tuple[int, int] = (0, 0)
    """(sn, CRC) of the last group of the earlier views."""
    reported: Evidence | None = None
    """The first event that reports the view."""
    first_return: tuple[int, Evidence] | None = None
    """Time of the view's first answer to a call."""


class OnePrimaryView(Check):
    name = "one primary view"
    meaning = (
        "a view of one number has the same members and the same beginning everywhere, only they answer in it, and who is not in a newer "
        "view answers nothing that was asked after that one had answered"
    )
    counts = "views and answers"

    def __init__(self) -> None:
        super().__init__()
        self.steps = {Serving: self._on_serving, Called: self._on_called}
        self._views: dict[int, View] = {}
        self._newest: dict[str, tuple[int, Evidence]] = {}
        """Server to the last view that it has begun."""

    def _view(self, number: int) -> View:
        view = self._views.get(number)
        if view is None:
            view = self._views[number] = View({})
            forget_oldest(self._views, VIEWS_KEPT)
        return view

    # --- beginnings ---------------------------------------------------------------------------------------------------

    def _on_serving(self, stamped: Stamped, event: Serving) -> None:
        place = place_in_trace(stamped)
        self._rises(stamped.server, event.epoch, place)
        view = self._view(event.epoch)
        if view.reported is None:
            view.members, view.start, view.reported = event.members, (event.sn, event.crc), place
            for server in view.answers:
                self._belongs(event.epoch, view, server)
            self._is_older_silent(event.epoch, view)
        elif (view.members, view.start) != (event.members, (event.sn, event.crc)):
            self.fail(
                f"there are two views {event.epoch}: {stamped.server} begins one of {' '.join(event.members)} behind group "
                f"{event.sn} (crc {event.crc:08x}), {view.reported[0]} one of {' '.join(view.members)} behind group "
                f"{view.start[0]} (crc {view.start[1]:08x})",
                view.reported,
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

    # --- answers --------------------------------------------------------------------------------------------------------

    def _on_called(self, stamped: Stamped, event: Called) -> None:
        if not event.epoch or event.error.startswith(UNKNOWN):
            return
        place, view = place_in_trace(stamped), self._view(event.epoch)
        answers = view.answers.get(event.server)
        if answers is None:
            answers = view.answers[event.server] = Answers(place, event.number, {})
            self._belongs(event.epoch, view, event.server)
        writes = tag_of(event.operation) in WRITES
        if writes not in answers.last or event.invoked_ns > answers.last[writes][0]:
            answers.last[writes] = (event.invoked_ns, place)
            self._is_silent(event.epoch, event.server)
        if view.first_return is None or event.returned_ns < view.first_return[0]:
            view.first_return = (event.returned_ns, place)
            self._is_older_silent(event.epoch, view)
        self.checked += 1

    def _belongs(self, number: int, view: View, server: str) -> None:
        answers = view.answers[server]
        if view.reported is not None and server not in view.members:
            self.fail(
                f"{server} answered call {answers.call} in view {number}, which has the members {' '.join(view.members)}",
                view.reported,
                answers.first,
            )

    # --- late answers ---------------------------------------------------------------------------------------------------

    def _is_silent(self, number: int, server: str) -> None:
        for newer, view in self._views.items():
            if newer > number:
                self._compare(number, server, newer, view)

    def _is_older_silent(self, number: int, view: View) -> None:
        """Checks that an older view was silent. Answers arrive in any order: an older view may be reported after a newer one."""
        for older, other in self._views.items():
            if older < number:
                for server in other.answers:
                    self._compare(older, server, number, view)

    def _compare(self, older: int, server: str, newer: int, view: View) -> None:
        if view.first_return is None:
            return
        may_read = view.reported is None or server in view.members
        for writes, (invoked_ns, place) in self._views[older].answers[server].last.items():
            if invoked_ns > view.first_return[0] and (writes or not may_read):
                self.fail(
                    f"{server} answered a {'write' if writes else 'read'} in view {older} that was asked after view {newer} had answered",
                    view.first_return[1],
                    place,
                )
