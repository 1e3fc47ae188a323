"""dense journal: serial numbers have no gap and are never assigned twice (nodes/invariants/README.md, safety rule 1)."""

from __future__ import annotations

from nodes.invariants.checker import Check, place_in_trace
from nodes.invariants.journals import KEPT, GroupJournals
from nodes.trace.events import Committed, Durable, Stamped


class DenseJournal(Check):
    """Sees each event before `journals` does."""

    name = "dense journal"
    meaning = "no gap and no reuse of sn within an epoch; no committed sn changes"
    counts = "journal groups on a disk"

    def __init__(self, journals: GroupJournals) -> None:
        super().__init__()
        self._journals = journals
        self.steps = {Durable: self._on_durable, Committed: self._on_committed}
        self._written: dict[tuple[int, int], tuple[int, str, int]] = {}
        """(sn, epoch) to the CRC of its group and the event that reported it first."""
        self._last: dict[int, tuple[int, str, int]] = {}
        """Epoch to its last committed sn and the event."""

    def _on_durable(self, stamped: Stamped, event: Durable) -> None:
        journal = self._journals.of(stamped.server)
        if journal.last_sn is not None and event.sn != journal.last_sn + 1:
            self.fail(
                f"{stamped.server} wrote group {event.sn} behind group {journal.last_sn}",
                (stamped.server, journal.number),
                place_in_trace(stamped),
            )
        key = (event.sn, event.epoch)
        first = self._written.get(key)
        if first is None:
            self._written[key] = (event.crc, stamped.server, stamped.number)
            if len(self._written) > KEPT:
                del self._written[next(iter(self._written))]
        elif first[0] != event.crc:
            self.fail(
                f"sn {event.sn} was given twice in epoch {event.epoch}: {stamped.server} holds another group "
                f"(crc {event.crc:08x}) than {first[1]} (crc {first[0]:08x})",
                first[1:],
                place_in_trace(stamped),
            )
        self.checked += 1

    def _on_committed(self, stamped: Stamped, event: Committed) -> None:
        known = self._journals.commits.get(event.sn)
        if known is not None and known.crc != event.crc:
            self.fail(
                f"committed group {event.sn} changed: {known.server} committed crc {known.crc:08x} in epoch "
                f"{known.epoch}, {stamped.server} crc {event.crc:08x} in epoch {event.epoch}",
                known.evidence,
                place_in_trace(stamped),
            )
        last = self._last.get(event.epoch)
        if last is not None and last[1] == stamped.server and event.sn > last[0] + 1:
            self.fail(
                f"{stamped.server} committed group {event.sn} behind group {last[0]} in epoch {event.epoch}",
                last[1:],
                place_in_trace(stamped),
            )
        if last is None or event.sn > last[0]:
            self._last[event.epoch] = (event.sn, stamped.server, stamped.number)
        self.checked += 1
