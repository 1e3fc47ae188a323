"""What the events say of every server's journal and of the groups that were committed.

CRCs are chained, so that two journals with the same CRC at a sn are equal up to there. Only the newest `KEPT` groups are remembered; what is
older is unknown again, and nothing is claimed of it.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from nodes.trace.events import Committed, Cut, Durable, JournalOpened, Renewing, Stamped

KEPT = 50_000
V = TypeVar("V")


class Commit(NamedTuple):
    sn: int
    epoch: int
    """Of the tenure that committed it."""
    crc: int
    server: str
    number: int
    """Of the event."""
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
        """Of the event that changed it last."""

    def end_at(self, sn: int | None, number: int) -> None:
        if sn is None:
            self.crcs.clear()
        elif self.last_sn is not None:
            for gone in range(max(sn + 1, self.last_sn - KEPT), self.last_sn + 1):
                self.crcs.pop(gone, None)
        self.last_sn = sn
        self.number = number


class Journals:
    """The journals of one group's servers, and the committed groups by sn."""

    def __init__(self) -> None:
        self.servers: dict[str, ServerJournal] = {}
        self.commits: dict[int, Commit] = {}
        self.newest: Commit | None = None
        """The committed group of the largest sn."""
        self.steps = {
            Durable: self._on_durable,
            Cut: self._on_cut,
            JournalOpened: self._on_opened,
            Renewing: self._on_renewing,
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
        self.of(stamped.server).end_at(event.sn, stamped.number)

    def _on_opened(self, stamped: Stamped, event: JournalOpened) -> None:
        journal = self.of(stamped.server)
        journal.end_at(event.last_sn, stamped.number)
        if event.last_sn:
            journal.crcs[event.last_sn] = event.crc

    def _on_renewing(self, stamped: Stamped, event: Renewing) -> None:
        """An image may take the journal's place."""
        if event.phase == "image":
            self.of(stamped.server).end_at(None, stamped.number)

    def add(self, stamped: Stamped, event: Committed) -> Commit | None:
        """Takes a committed group; returns the other one that was committed under the same sn, if there is one."""
        known = self.commits.get(event.sn)
        if known is not None:
            return known if known.crc != event.crc else None
        commit = Commit(
            event.sn, event.epoch, event.crc, stamped.server, stamped.number, event.operations
        )  # fmt: skip
        self.commits[event.sn] = commit
        forget_oldest(self.commits)
        if self.newest is None or event.sn > self.newest.sn:
            self.newest = commit
        return None


def forget_oldest(entries: dict[int, V], kept: int = KEPT) -> None:
    if len(entries) > kept:
        del entries[next(iter(entries))]
