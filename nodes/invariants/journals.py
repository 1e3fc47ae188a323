"""Every server's journal and the committed groups, as events report them.

CRCs are chained, so that two journals with the same CRC at a sn are equal up to there. Only the newest `KEPT` groups are remembered; older
ones are unknown again, and nothing is claimed about them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from nodes.trace.base import Event
from nodes.trace.events import Committed, Cut, Durable, JournalOpened, Renewing, Stamped

KEPT = 20_000
CALLS_KEPT = 100_000
K = TypeVar("K")
V = TypeVar("V")


class CommittedGroup(NamedTuple):
    sn: int
    epoch: int
    """Epoch of the tenure that committed the group."""
    crc: int
    server: str
    number: int
    """Number of the event."""
    at_ns: int
    operations: list[tuple[str, int]]

    @property
    def evidence(self) -> tuple[str, int]:
        return self.server, self.number


class ServerJournal:
    """One server's journal: `last_sn` is None when it is not known."""

    __slots__ = ("crcs", "last_sn", "number")

    def __init__(self) -> None:
        self.last_sn: int | None = None
        self.crcs: dict[int, int] = {}
        self.number = 0
        """Number of the event that changed the journal last."""

    def end_at(self, sn: int | None, number: int) -> None:
        if sn is None:
            self.crcs.clear()
        elif self.last_sn is not None:
            for gone in range(max(sn + 1, self.last_sn - KEPT), self.last_sn + 1):
                self.crcs.pop(gone, None)
        self.last_sn = sn
        self.number = number


class GroupJournals:
    """The journals of one group's servers, and the committed groups by sn."""

    def __init__(self) -> None:
        self.servers: dict[str, ServerJournal] = {}
        self.commits: dict[int, CommittedGroup] = {}
        self.newest: CommittedGroup | None = None
        """The committed group of the largest sn."""
        self.first_sn = 1 << 62
        """Sn of the first reported group; beyond all numbers while there is none."""
        self.missing: dict[int, None] = {}
        """Numbers below the newest without a reported commit."""
        self.where: dict[tuple[str, int], tuple[int, int]] = {}
        """(sn, place) of a committed operation, the first if there are several."""
        self.results: dict[tuple[str, int], int] = {}
        """Checksum of each operation's result in its record, in families that report it (`Committed.results`)."""
        self.forgotten_at_ns = 0
        """Commits up to this time may have been forgotten."""
        self.steps: dict[type[Event], Callable[[Stamped, Any], None]] = {
            Durable: self._on_durable,
            Cut: self._on_cut,
            JournalOpened: self._on_opened,
            Renewing: self._on_renewing,
            Committed: self._on_committed,
        }

    def of(self, server: str) -> ServerJournal:
        journal = self.servers.get(server)
        if journal is None:
            journal = self.servers[server] = ServerJournal()
        return journal

    def _on_durable(self, stamped: Stamped, event: Durable) -> None:
        journal = self.of(stamped.server)
        journal.crcs[event.sn] = event.crc
        journal.last_sn = event.sn
        journal.number = stamped.number
        forget_oldest(journal.crcs)

    def _on_cut(self, stamped: Stamped, event: Cut) -> None:
        journal = self.of(stamped.server)
        if journal.last_sn is None or event.sn < journal.last_sn:
            journal.end_at(event.sn, stamped.number)

    def _on_opened(self, stamped: Stamped, event: JournalOpened) -> None:
        journal = self.of(stamped.server)
        journal.end_at(event.last_sn, stamped.number)
        if event.last_sn:
            journal.crcs[event.last_sn] = event.crc

    def _on_renewing(self, stamped: Stamped, event: Renewing) -> None:
        """An image may replace the journal."""
        if event.phase == "image":
            self.of(stamped.server).end_at(None, stamped.number)

    def _on_committed(self, stamped: Stamped, event: Committed) -> None:
        """A second commit of a sn changes nothing here; checks compare the two groups."""
        if event.sn in self.commits:
            return
        self.commits[event.sn] = CommittedGroup(
            event.sn,
            event.epoch,
            event.crc,
            stamped.server,
            stamped.number,
            stamped.at_ns,
            event.operations,
        )
        self._note_gap(event.sn)
        for place, (client, number) in enumerate(event.operations, 1):
            self.where.setdefault((client, number), (event.sn, place))
        for (client, number), result in zip(event.operations, event.results, strict=False):
            if client:
                self.results.setdefault((client, number), result)
        if len(self.commits) > KEPT or len(self.where) > CALLS_KEPT:
            self._forget_commit()

    def _note_gap(self, sn: int) -> None:
        newest = self.newest
        if newest is None:
            self.first_sn = sn
        elif sn <= newest.sn:
            self.missing.pop(sn, None)
            return
        elif sn > newest.sn + 1:
            self.missing.update(dict.fromkeys(range(max(newest.sn + 1, sn - KEPT), sn)))
            while len(self.missing) > KEPT:
                del self.missing[next(iter(self.missing))]
        self.newest = self.commits[sn]

    def _forget_commit(self) -> None:
        commit = self.commits.pop(next(iter(self.commits)))
        self.forgotten_at_ns = max(self.forgotten_at_ns, commit.at_ns)
        for client, number in commit.operations:
            self.where.pop((client, number), None)
            self.results.pop((client, number), None)

    def added_by(self, stamped: Stamped, event: Committed) -> bool:
        """Whether this very event was the first report of its group."""
        commit = self.commits.get(event.sn)
        return commit is not None and commit.number == stamped.number and commit.server == stamped.server


def forget_oldest(entries: dict[K, V], kept: int = KEPT) -> None:
    if len(entries) > kept:
        del entries[next(iter(entries))]
