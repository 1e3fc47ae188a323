"""The shared journal in ledgers on bookies (BookKeeper, as HDFS used it): recovery and reading; `ledger_writer.py` writes.

Ensemble, write quorum and acknowledgement quorum are the same three bookies, so that one of them that is fenced shuts a writer out, and
one that lacks an entry proves that nobody was told of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.config import MILLISECOND
from nodes.mutations import Mutations
from nodes.protocols.baselines.ledger_writer import TICK_NS, LedgerWriter
from nodes.protocols.baselines.ledgers import Book, Fragment, Ledger, Ledgers
from nodes.protocols.baselines.local import LocalJournal
from nodes.protocols.baselines.shared_journal import JournalLost
from nodes.replicas.disks import Roll
from nodes.replicas.view import GlobalView, ViewMoved
from nodes.storage.identity import DiskId
from nodes.trace.ignoring import Ignoring
from nodes.wire.calls import Calls
from nodes.wire.journal_messages import EntriesRead, EntryAdded, LedgerFenced, ReadEntries
from nodes.wire.messages import Mark, Message
from nodes.world import ConnectionLoss, World

ENSEMBLE = 3
ASK_NS = 300 * MILLISECOND
LAST = 1 << 62


class BookKeeper:
    def __init__(
        self,
        world: World,
        bookies: list[str],
        view: GlobalView,
        local: LocalJournal,
        patience_ns: int,
        mutations: Mutations,
    ):
        self._world = world
        self._bookies = bookies
        self._replaced_votes = mutations.replaced_disk_votes
        self._local = local
        self._patience_ns = patience_ns
        self._ledgers = Ledgers(world.coordination, view)
        self._calls = Calls(world)
        self._ignoring = Ignoring(world)
        self._writer: LedgerWriter | None = None
        self._book = Book()
        self._turn = 0
        self.promised = 0
        self.handlers: dict[type[Message], Callable[[str, Any], None]] = {
            EntryAdded: self._to_writer(LedgerWriter.on_added),
            LedgerFenced: self._to_writer(LedgerWriter.on_fenced),
            EntriesRead: self._calls.on_reply,
        }

    def _to_writer(self, step: Callable[[LedgerWriter, str, Any], None]) -> Callable[[str, Any], None]:
        def deliver(peer: str, message: Any) -> None:
            if peer not in self._bookies:
                self._ignoring.tell(peer, message, "it keeps no journal of this cluster")
            elif self._writer is None:
                self._ignoring.tell(peer, message, "this server writes no journal")
            else:
                step(self._writer, peer, message)

        return deliver

    async def _ask(self, bookie: str, ledger: int, from_sn: int, fence: bool = False) -> EntriesRead | None:
        reply = await self._calls.ask(bookie, ReadEntries(0, ledger, from_sn, LAST, fence), ASK_NS)
        return reply if isinstance(reply, EntriesRead) and reply.from_sn == from_sn else None

    async def _find(self, but: dict[str, int]) -> dict[str, int]:
        """Bookies that answer now, with their disks; those of the ensemble are left out, unless they have another disk."""
        others, found = list(self._bookies), dict[str, int]()
        self._world.rng.shuffle(others)
        for name in others:
            reply = await self._ask(name, 0, 0)
            if reply is not None and but.get(name) != reply.disk.instance:
                found[name] = reply.disk.instance
        return found

    # --- recovery ----------------------------------------------------------------------------------------------

    async def recover(self, epoch: int, timeout_ns: int) -> int | None:
        self._writer = None
        deadline_ns = self._world.clock.monotonic_ns() + timeout_ns
        book, version = await self._ledgers.read_newest()
        if not book.ledgers:
            return 0
        last = book.ledgers[-1]
        if last.closed:
            return last.last_sn
        try:
            await self._ledgers.write(Book(book.ledgers, last.number), version)
            book, version = await self._ledgers.read_newest()
            return await self._close(book, version, deadline_ns)
        except (ViewMoved, ConnectionLoss, JournalLost):
            return None

    async def _close(self, book: Book, version: int, deadline_ns: int) -> int | None:
        """The ledger ends behind the last entry that any bookie of its ensemble has; those that may not be on all are written again."""
        ledger = book.ledgers[-1]
        fragment = ledger.fragments[-1]
        found = await self._fence(ledger, fragment, deadline_ns)
        if found is None:
            return None
        confirmed_sn, entries = found
        writer = self._writer = LedgerWriter(
            self._world, self._ledgers, book, version, self._local, self._patience_ns, self._find, confirmed_sn, True
        )  # fmt: skip
        for sn in sorted(entries):
            if sn > confirmed_sn:
                writer.add(sn, entries[sn])
        while not writer.all_added:
            if self._world.clock.monotonic_ns() > deadline_ns:
                return None
            await writer.tend()
            await self._world.clock.sleep(TICK_NS)
        end_sn = max([confirmed_sn, *entries])
        ledger = writer.ledger
        closed = Ledger(ledger.number, ledger.first_sn, ledger.fragments, end_sn)
        await self._ledgers.write(writer.book.with_last(closed), writer.version)
        return end_sn

    async def _fence(
        self, ledger: Ledger, fragment: Fragment, deadline_ns: int
    ) -> tuple[int, dict[int, bytes]] | None:
        """What was surely acknowledged, and the entries of the last fragment without gap; every bookie is asked.

        One must answer with the disk that the entries went to, or all must (safety rule 23).
        """
        confirmed_sn, entries, heard = fragment.from_sn - 1, dict[int, bytes](), dict[str, DiskId]()
        roll = Roll(fragment.bookies, fragment.disks, self._replaced_votes)
        while not roll.suffices(1, heard):
            if self._world.clock.monotonic_ns() > deadline_ns:
                return None
            for bookie in fragment.bookies:
                sn = fragment.from_sn
                while (reply := await self._ask(bookie, ledger.number, sn, fence=True)) is not None:
                    heard[bookie] = reply.disk
                    confirmed_sn = max(confirmed_sn, reply.confirmed_sn)
                    for octets in reply.entries:
                        entries.setdefault(sn, octets)
                        sn += 1
                    if not reply.entries:
                        break
        return confirmed_sn, entries

    # --- reading -----------------------------------------------------------------------------------------------

    async def read(self, from_sn: int) -> list[bytes]:
        ledger = self._book.ledger_of(from_sn)
        if ledger is None or not ledger.closed:
            self._book, _ = await self._ledgers.read()
            ledger = self._book.ledger_of(from_sn)
        if ledger is None:
            return []
        fragment, last_sn = ledger.fragment_of(from_sn)
        for _ in fragment.bookies:
            bookie = fragment.bookies[self._turn % len(fragment.bookies)]
            reply = await self._ask(bookie, ledger.number, from_sn)
            if reply is not None:
                end_sn = reply.confirmed_sn if last_sn < 0 else last_sn
                entries = reply.entries[: max(0, end_sn - from_sn + 1)]
                if entries:
                    return entries
            self._turn += 1
        return []

    # --- writing -----------------------------------------------------------------------------------------------

    async def begin(self, epoch: int, last: Mark, timeout_ns: int) -> LedgerWriter | None:
        """A ledger of its own for this epoch."""
        deadline_ns = self._world.clock.monotonic_ns() + timeout_ns
        while len(found := await self._find({})) < ENSEMBLE:
            if self._world.clock.monotonic_ns() > deadline_ns:
                return None
        book, version = await self._ledgers.read_newest()
        if book.ledgers and book.ledgers[-1].last_sn != last.sn:
            return None
        ensemble = sorted(list(found)[:ENSEMBLE])
        fragment = Fragment(last.sn + 1, ensemble, {name: found[name] for name in ensemble})
        ledger = Ledger(epoch, last.sn + 1, [fragment])
        book = Book([*book.ledgers, ledger])
        try:
            await self._ledgers.write(book, version)
        except (ViewMoved, ConnectionLoss):
            return None
        self._writer = LedgerWriter(
            self._world, self._ledgers, book, version + 1, self._local, self._patience_ns, self._find, last.sn, False
        )  # fmt: skip
        return self._writer
