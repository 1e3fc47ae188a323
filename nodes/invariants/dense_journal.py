"""dense journal: serial numbers have no gap and are never assigned twice (nodes/invariants/README.md, safety rule 1)."""

from __future__ import annotations

from nodes.invariants.checker import Check, place_in_trace
from nodes.invariants.journals import KEPT, GroupJournals, forget_oldest
from nodes.roles import LEADING
from nodes.trace.events import Applied, Committed, Durable, JournalOpened, RoleChanged, Stamped

AHEAD = (*LEADING, "elected")
"""Roles in which a server applies groups before they are committed."""


class DenseJournal(Check):
    """Sees each event before `journals` does."""

    name = "dense journal"
    meaning = "no gap and no reuse of sn within an epoch; no committed sn changes, and no follower applies another group there"
    counts = "journal groups on a disk"

    def __init__(self, journals: GroupJournals) -> None:
        super().__init__()
        self._journals = journals
        self.steps = {
            Durable: self._on_durable,
            Committed: self._on_committed,
            Applied: self._on_applied,
            RoleChanged: self._on_role,
            JournalOpened: self._on_opened,
        }
        self._written: dict[tuple[int, int], tuple[int, str, int]] = {}
        """(sn, epoch) to the CRC of its group and the event that reported it first."""
        self._last: dict[int, tuple[int, str, int]] = {}
        """Epoch to its last committed sn and the event."""
        self._ahead: set[str] = set()
        """Servers that apply groups before they are committed."""
        self._applied: dict[int, tuple[int, str, int]] = {}
        """Sn to the CRC of the group that a follower applied before the commit was reported, and the event."""

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
        applied = self._applied.pop(event.sn, None)
        if applied is not None:
            self._compare(event.sn, applied, (event.crc, *place_in_trace(stamped)))
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

    def _on_applied(self, stamped: Stamped, event: Applied) -> None:
        crc = self._journals.of(stamped.server).crcs.get(event.sn)
        if crc is None or stamped.server in self._ahead:
            return
        applied = (crc, *place_in_trace(stamped))
        commit = self._journals.commits.get(event.sn)
        if commit is not None:
            self._compare(event.sn, applied, (commit.crc, *commit.evidence))
        else:
            self._applied.setdefault(event.sn, applied)
            forget_oldest(self._applied)

    def _compare(self, sn: int, applied: tuple[int, str, int], committed: tuple[int, str, int]) -> None:
        if applied[0] != committed[0]:
            self.fail(
                f"{applied[1]} applied another group {sn} (crc {applied[0]:08x}) than {committed[1]} committed "
                f"(crc {committed[0]:08x})",
                applied[1:],
                committed[1:],
            )

    def _on_role(self, stamped: Stamped, event: RoleChanged) -> None:
        (self._ahead.add if event.role in AHEAD else self._ahead.discard)(stamped.server)

    def _on_opened(self, stamped: Stamped, event: JournalOpened) -> None:
        self._ahead.discard(stamped.server)
