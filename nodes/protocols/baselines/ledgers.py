"""BookKeeper's records in the coordination service: the ledgers of a group's journal, in order, and the bookies that have their entries."""

from __future__ import annotations

import msgspec

from nodes.protocols.baselines.shared_journal import JournalLost
from nodes.replicas.view import GlobalView, ViewMoved
from nodes.units import ROOT_GROUP
from nodes.wire.journal_messages import LEDGERS_SHIFT
from nodes.world import ConnectionLoss, Coordination, NoNode, SetNode, decoded, ensure


class Fragment(msgspec.Struct, frozen=True):
    """From this sn on, the entries of a ledger are spread over these bookies, its ensemble."""

    from_sn: int
    bookies: list[str]
    disks: dict[str, int] = {}
    """The disk with which each bookie takes entries: another disk does not have them (safety rule 23)."""


class Ledger(msgspec.Struct, frozen=True):
    number: int
    first_sn: int
    fragments: list[Fragment]
    last_sn: int = -1
    """Sn of the last entry; -1 until the ledger is closed."""
    write_quorum: int = 3
    """Number of bookies that each entry is sent to."""
    ack_quorum: int = 3
    """Number of bookies that have an entry durably before its calls are answered."""

    @property
    def closed(self) -> bool:
        return self.last_sn >= 0

    @property
    def witnesses(self) -> int:
        """Number of bookies of a write set that decide: an entry that so many lack was not acknowledged; one with so many fenced will not be."""
        return self.write_quorum - self.ack_quorum + 1

    def write_set(self, fragment: Fragment, sn: int) -> list[str]:
        """The bookies of one entry: a write quorum, beginning at sn modulo the ensemble."""
        bookies = fragment.bookies
        return [bookies[(sn + place) % len(bookies)] for place in range(min(self.write_quorum, len(bookies)))]

    def shut_by(self, fragment: Fragment, fenced: list[str]) -> bool:
        """Whether these fenced bookies leave no write set that could acknowledge an entry."""
        starts = range(len(fragment.bookies))
        return all(
            sum(bookie in fenced for bookie in self.write_set(fragment, start)) >= self.witnesses
            for start in starts
        )

    def with_fragments(self, fragments: list[Fragment]) -> Ledger:
        return msgspec.structs.replace(self, fragments=fragments)

    def fragment_of(self, sn: int) -> tuple[Fragment, int]:
        """The fragment of the entry, and the last sn of that fragment; -1 when it is open."""
        place = max(index for index, each in enumerate(self.fragments) if each.from_sn <= sn)
        later = self.fragments[place + 1 :]
        return self.fragments[place], later[0].from_sn - 1 if later else self.last_sn

    def followed_by(self, last_sn: int) -> tuple[Ledger, Ledger]:
        """This ledger, closed with its entry `last_sn`, and the next one. It begins on the same bookies."""
        begun = Fragment(last_sn + 1, self.fragments[-1].bookies, self.fragments[-1].disks)
        following = msgspec.structs.replace(
            self, number=self.number + 1, first_sn=begun.from_sn, fragments=[begun]
        )
        return msgspec.structs.replace(self, last_sn=last_sn), following


class LedgerMetadata(msgspec.Struct, frozen=True):
    """The ledgers of a group's journal. The last one always stays: its end is the journal's, and the next ledger's number follows on its own."""

    ledgers: list[Ledger] = []
    closing: int = 0
    """Number of the ledger that a later writer is closing; 0 when there is none."""

    def ledger_of(self, sn: int) -> Ledger | None:
        """The newest ledger that has the entry, or will have it."""
        for ledger in reversed(self.ledgers):
            if ledger.first_sn <= sn and (not ledger.closed or sn <= ledger.last_sn):
                return ledger
        return None

    def with_last(self, ledger: Ledger, closing: int = 0) -> LedgerMetadata:
        return LedgerMetadata([*self.ledgers[:-1], ledger], closing)

    def next_number(self, group: int) -> int:
        """The number of the next ledger. The groups' numbers are disjoint, and none is ever used twice."""
        return self.ledgers[-1].number + 1 if self.ledgers else (group - ROOT_GROUP) << LEDGERS_SHIFT | 1

    def begins_behind(self, sn: int) -> bool:
        """Whether the ledger with this entry has been dropped."""
        return bool(self.ledgers) and sn < self.ledgers[0].first_sn

    def behind(self, sn: int) -> LedgerMetadata:
        """The book without the closed ledgers that end with `sn` or before."""
        *earlier, last = self.ledgers
        return LedgerMetadata([each for each in earlier if each.last_sn > sn] + [last], self.closing)


class Ledgers:
    """The node of one group's ledgers. Every change checks that no other writer has changed it, and that this server still has the lock."""

    def __init__(self, coordination: Coordination, view: GlobalView):
        self._coordination = coordination
        self._view = view
        self._path = view.path("ledgers")

    async def read(self) -> tuple[LedgerMetadata, int]:
        """The book and its version. Raises CoordinationError."""
        try:
            data, stat = await self._coordination.get(self._path)
        except NoNode:
            return LedgerMetadata(), -1
        return (decoded(self._path, data, LedgerMetadata) if data else LedgerMetadata()), stat.version

    async def read_newest(self) -> tuple[LedgerMetadata, int]:
        """The present book; its node is created when missing. Raises CoordinationError."""
        await ensure(self._coordination, self._path)
        await self._coordination.sync(self._path)
        return await self.read()

    async def write(self, book: LedgerMetadata, version: int) -> None:
        """Raises LostLock, ViewMoved, ConnectionLoss."""
        await self._view.guarded([SetNode(self._path, msgspec.json.encode(book), version)])


class OwnBook:
    """The book in the hands of the one server that changes it."""

    def __init__(self, ledgers: Ledgers, book: LedgerMetadata, version: int):
        self._ledgers = ledgers
        self.book = book
        self._version = version

    async def write(self, book: LedgerMetadata) -> None:
        """Records the book. An unknown outcome is read back.

        Raises JournalLost when another server has changed the book or the write did not happen, LostLock, CoordinationError.
        """
        try:
            await self._ledgers.write(book, self._version)
        except ViewMoved:
            raise JournalLost("somebody else has changed the ledgers") from None
        except ConnectionLoss:
            recorded, version = await self._ledgers.read_newest()
            if recorded != book or version != self._version + 1:
                raise JournalLost("the change of the ledgers was not written") from None
        self._version += 1
        self.book = book
