"""exactly once: an operation id has one effect and one result (nodes/invariants/README.md, safety rule 10)."""

from __future__ import annotations

from nodes.invariants.calls import UNKNOWN, WRITES, as_travelled, shown, tag_of
from nodes.invariants.checker import Check, place_in_trace
from nodes.invariants.journals import GroupJournals
from nodes.metadata.records import result_sum
from nodes.trace.events import Called, Committed, Stamped

PAGE_BITS = 16
REFUSED_KEPT = 10_000


class SeenNumbers:
    """A set of call numbers per client, one bit each."""

    def __init__(self) -> None:
        self._pages: dict[tuple[str, int], bytearray] = {}

    def add(self, client: str, number: int) -> bool:
        """Adds a number; False when it is already there."""
        page = self._pages.get((client, number >> PAGE_BITS))
        if page is None:
            page = self._pages[client, number >> PAGE_BITS] = bytearray(1 << (PAGE_BITS - 3))
        offset = number & ((1 << PAGE_BITS) - 1)
        bit = 1 << (offset & 7)
        if page[offset >> 3] & bit:
            return False
        page[offset >> 3] |= bit
        return True


class ExactlyOnce(Check):
    name = "exactly once"
    meaning = "an operation id has one effect and one result"
    counts = "committed operations and answers"

    def __init__(self, journals: GroupJournals) -> None:
        super().__init__()
        self._journals = journals
        self.steps = {Committed: self._on_committed, Called: self._on_called}
        self._seen = SeenNumbers()
        self._barrier_sn = 0
        """Sn of the barrier from which this incarnation began. Groups up to it may be reported again."""
        self._kept: set[tuple[str, int]] = set()
        """Calls of earlier incarnations that have their effect up to this barrier."""
        self._refused: dict[tuple[str, int], Stamped] = {}
        """Writes that were answered with an error and have had no effect so far."""

    def inherit(self, barrier_sn: int, kept: set[tuple[str, int]]) -> None:
        """Calls that were kept must have no second effect behind the barrier."""
        self._barrier_sn, self._kept = barrier_sn, kept

    def _on_committed(self, stamped: Stamped, event: Committed) -> None:
        if not self._journals.added_by(stamped, event):
            return
        add, refused = self._seen.add, self._refused
        is_new = event.sn > self._barrier_sn
        for client, number in event.operations:
            if not client:
                continue
            if not add(client, number) or (is_new and (client, number) in self._kept):
                self._twice(stamped, event, client, number)
            elif refused and (client, number) in refused:
                self._effect_despite_error(refused.pop((client, number)), stamped.server, stamped.number)
        self.checked += len(event.operations)

    def _twice(self, stamped: Stamped, event: Committed, client: str, number: int) -> None:
        sn = self._journals.where.get((client, number), (0, 0))[0]
        first = self._journals.commits.get(sn)
        earlier = [first.evidence] if first is not None and sn != event.sn else []
        self.fail(
            f"call {number} of {client} has two effects: in group {sn or 'long before'} "
            f"and in group {event.sn}",
            *earlier,
            place_in_trace(stamped),
        )

    def _on_called(self, stamped: Stamped, event: Called) -> None:
        error = event.error
        if error == UNKNOWN or tag_of(event.operation) not in WRITES:
            return
        key = (event.client, event.number)
        where = self._journals.where.get(key)
        if error:
            self._on_refused(stamped, key, where)
        elif where is not None:
            self._compare(stamped, event, where)

    def _compare_result(self, stamped: Stamped, event: Called, where: tuple[int, int]) -> None:
        """A repeated answer must agree with the call's record, whatever happened to the servers in between."""
        result = self._journals.results.get((event.client, event.number), 0)
        if not result or result == result_sum(as_travelled(event.result)):
            self.checked += 1
            return
        self.fail(
            f"call {event.number} of {event.client}, {shown(event.operation)}, was answered {shown(event.result)} by {event.server}, "
            "but the record that carried it out has another result",
            self._journals.commits[where[0]].evidence,
            place_in_trace(stamped),
        )

    def _on_refused(self, stamped: Stamped, key: tuple[str, int], where: tuple[int, int] | None) -> None:
        if where is not None:
            commit = self._journals.commits[where[0]]
            self._effect_despite_error(stamped, *commit.evidence)
            return
        self._refused[key] = stamped
        if len(self._refused) > REFUSED_KEPT:
            del self._refused[next(iter(self._refused))]

    def _effect_despite_error(self, called: Stamped, server: str, number: int) -> None:
        event: Called = called.event  # type: ignore[assignment]
        self.fail(
            f"call {event.number} of {event.client}, {shown(event.operation)}, was answered {event.error} "
            "and yet has an effect",
            (server, number),
            place_in_trace(called),
        )

    def _compare(self, stamped: Stamped, event: Called, where: tuple[int, int]) -> None:
        """The answer has the place of the call's record, or a later one when it comes from memory. Copies of messages made by the network are
        not known here."""
        if (event.sn, event.place) >= where:
            self._compare_result(stamped, event, where)
            return
        self.fail(
            f"call {event.number} of {event.client} was answered as place {event.place} of group {event.sn} "
            f"but is place {where[1]} of group {where[0]}",
            self._journals.commits[where[0]].evidence,
            place_in_trace(stamped),
        )
