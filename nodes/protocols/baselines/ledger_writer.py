"""Adds entries to a ledger: new ones in a tenure (`tenure_writer.py`), or those that the server that closes a ledger writes again.

A bookie that does not answer in time is replaced by another one. The ledger's record names the replacement before its answer counts. Only a
server that closes a ledger delays such changes until the record names the ledger's end. Otherwise a second recovery would find them, and take
the new bookies' empty disks for a proof that no entry was acknowledged.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from nodes.config import MILLISECOND
from nodes.ignored_messages import Ignoring
from nodes.listeners import Listeners
from nodes.protocols.baselines.ledgers import Fragment, Ledger, LedgerMetadata, OwnBook
from nodes.protocols.baselines.shared_journal import JournalLost
from nodes.wire.journal_messages import AddEntry, EntryAdded, LedgerFenced
from nodes.world import World

TICK_NS = 50 * MILLISECOND
PATIENCES = 8
"""The writer gives up after this many times the patience with one bookie without an acknowledgement quorum."""

FindBookies = Callable[[dict[str, int]], Awaitable[dict[str, int]]]
"""Finds the bookies that answer now, with their disks, except the given ones with the given disks."""


class LedgerEntry(msgspec.Struct):
    """One entry, until its whole write set has it or its silent bookies have been given up."""

    data: bytes
    ledger: int
    write_set: list[str]
    since_ns: int
    """Time when the entry was first sent to this write set."""
    sent_ns: int
    stored: list[str] = []
    """Bookies that have acknowledged the entry, including those that have left the write set."""

    def owing(self) -> list[str]:
        return [bookie for bookie in self.write_set if bookie not in self.stored]


class LedgerWriter:
    """Adds entries to the last ledger of the book: new ones, or in a recovery those that are written again (`recovering`).

    `records_changes`: a new ensemble is written into the ledger's record at once.
    """

    def __init__(
        self,
        world: World,
        own_book: OwnBook,
        patience_ns: int,
        find: FindBookies,
        confirmed_sn: int,
        recovering: bool,
        records_changes: bool,
    ):
        self._world = world
        self._ignoring = Ignoring(world)
        self._own_book = own_book
        self._patience_ns = patience_ns
        self._find = find
        self._recovering = recovering
        self._records_changes = records_changes
        self.on_progress: Listeners[()] = Listeners()
        self.confirmed_sn = confirmed_sn
        """Everything up to this sn has its acknowledgement quorum."""
        self._own_sn = confirmed_sn
        self._changing = False
        self._pending: dict[int, LedgerEntry] = {}
        """Entries that lack an acknowledgement of their write set, ascending."""
        self._progress_ns = 0
        """Time when an entry was last added or confirmed."""
        self._lost = ""

    @property
    def book(self) -> LedgerMetadata:
        return self._own_book.book

    @property
    def ledger(self) -> Ledger:
        return self.book.ledgers[-1]

    @property
    def _fragment(self) -> Fragment:
        return self.ledger.fragments[-1]

    def _write_set(self, sn: int) -> list[str]:
        """The write set of an entry, also of one in an earlier ledger; empty when that is dropped."""
        ledger = self.book.ledger_of(sn)
        return [] if ledger is None else ledger.write_set(ledger.fragment_of(sn)[0], sn)

    # --- steps -------------------------------------------------------------------------------------------------

    def add(self, sn: int, data: bytes) -> None:
        now = self._progress_ns = self._world.clock.monotonic_ns()
        self._pending[sn] = LedgerEntry(data, self.ledger.number, self._write_set(sn), now, now)
        self._send(sn)

    def _send(self, sn: int) -> None:
        """Sends the entry to those of its write set that have not acknowledged it."""
        entry = self._pending[sn]
        entry.sent_ns = self._world.clock.monotonic_ns()
        confirmed_sn = min(self.confirmed_sn, sn - 1)
        message = AddEntry(entry.ledger, sn, confirmed_sn, self._recovering, entry.data)
        for bookie in entry.owing():
            self._world.network.send(bookie, message)

    def on_added(self, peer: str, message: EntryAdded) -> None:
        entry = self._pending.get(message.sn)
        number = self.ledger.number if entry is None else entry.ledger
        if message.ledger != number:
            reported = f"of ledger {message.ledger}; this is ledger {number}"
            self._ignoring.report(peer, message, reported)
            return
        if peer not in self._fragment.bookies:
            self._ignoring.report(peer, message, f"not of the ensemble of ledger {number}")
            return
        if message.disk != self._fragment.disks.get(peer, message.disk):
            self._ignoring.report(peer, message, f"of another disk than that of ledger {number}")
            return
        if entry is not None and peer in entry.owing():
            entry.stored.append(peer)
            self._count()
            self._forget_if_whole(message.sn)

    def _count(self) -> None:
        """Confirms entries in their order, but not while a new ensemble is being recorded."""
        if self._changing:
            return
        first_sn = self.confirmed_sn + 1
        while (entry := self._pending.get(self.confirmed_sn + 1)) is not None:
            if len(entry.write_set) - len(entry.owing()) < self.ledger.ack_quorum:
                break
            self.confirmed_sn += 1
        if self.confirmed_sn >= first_sn:
            self._progress_ns = self._world.clock.monotonic_ns()
            self.on_progress()
            for sn in range(first_sn, self.confirmed_sn + 1):
                self._forget_if_whole(sn)

    def _forget_if_whole(self, sn: int) -> None:
        entry = self._pending.get(sn)
        if entry is not None and sn <= self.confirmed_sn and not entry.owing():
            del self._pending[sn]

    def on_fenced(self, peer: str, message: LedgerFenced) -> None:
        if message.ledger != self.ledger.number:
            reported = f"of ledger {message.ledger}; this is ledger {self.ledger.number}"
            self._ignoring.report(peer, message, reported)
        else:
            self._lost = f"{peer} says that ledger {message.ledger} is being closed"

    async def tend(self) -> None:
        """Sends entries again, and replaces silent bookies. Raises JournalLost, LostLock, CoordinationError."""
        if self._lost:
            raise JournalLost(self._lost)
        if not self._pending:
            return
        now = self._world.clock.monotonic_ns()
        silent = self._silent(now)
        waits = self.confirmed_sn + 1 in self._pending
        if waits and now - self._progress_ns > PATIENCES * self._patience_ns:
            lacking = f"entry {self.confirmed_sn + 1} of ledger {self.ledger.number}"
            raise JournalLost(
                f"{lacking} finds no acknowledgement quorum; {', '.join(silent) or 'no bookie'} did not answer"
            )
        if silent:
            await self._replace()
        self._give_up_the_late()
        for sn, entry in list(self._pending.items()):
            if now - entry.sent_ns > 2 * TICK_NS:
                self._send(sn)

    def _silent(self, now: int) -> list[str]:
        """Bookies of the ensemble whose acknowledgement is overdue."""
        late = [entry for entry in self._pending.values() if now - entry.since_ns > self._patience_ns]
        owing = [bookie for entry in late for bookie in entry.owing()]
        return [bookie for bookie in self._fragment.bookies if bookie in owing]

    async def _replace(self) -> None:
        """Begins a new fragment from the first unconfirmed entry. The fragment is recorded before any of its acknowledgements counts.

        Each spare bookie takes the place of a silent one, so that the write sets keep the answering bookies. A silent one that has another
        disk now keeps its place, without entries.
        """
        found = await self._find(self._fragment.disks)
        now, fragment = self._world.clock.monotonic_ns(), self._fragment
        silent = self._silent(now)
        places = {bookie: bookie for bookie in silent if bookie in found}
        spare = [bookie for bookie in found if bookie not in fragment.bookies]
        places |= zip([bookie for bookie in silent if bookie not in found], spare, strict=False)
        if places:
            bookies = [places.get(bookie, bookie) for bookie in fragment.bookies]
            disks = {bookie: disk for bookie, disk in fragment.disks.items() if bookie in bookies}
            disks |= {bookie: found[bookie] for bookie in places.values()}
            await self._change(Fragment(self.confirmed_sn + 1, bookies, disks))
        self._count()

    async def _change(self, fragment: Fragment) -> None:
        old = self.ledger
        earlier = [each for each in old.fragments if each.from_sn < fragment.from_sn]
        await self._move(self.book.with_last(old.with_fragments([*earlier, fragment]), self.book.closing))

    async def _move(self, book: LedgerMetadata) -> None:
        """Records the book, and sends the unconfirmed entries to the bookies that it names for them."""
        before, ledger = self._fragment.disks, self.ledger.number
        if self._records_changes:
            self._changing = True
            await self._own_book.write(book)
            self._changing = False
        self._own_book.book = book
        disks = self._fragment.disks if self.ledger.number == ledger else {}
        now = self._world.clock.monotonic_ns()
        for sn, entry in self._pending.items():
            if sn > self.confirmed_sn:
                entry.ledger, entry.write_set, entry.since_ns = self.ledger.number, self._write_set(sn), now
                entry.stored = [each for each in entry.stored if before.get(each) == disks.get(each)]
                self._send(sn)

    def _give_up_the_late(self) -> None:
        """Gives up late acknowledgements, also those of bookies that have left the ensemble: they do not count any more.

        Confirmed entries stay on the bookies that have them; they are not copied to others later.
        """
        now = self._world.clock.monotonic_ns()
        for sn, entry in list(self._pending.items()):
            if sn <= min(self.confirmed_sn, self._own_sn) and now - entry.since_ns > self._patience_ns:
                del self._pending[sn]
