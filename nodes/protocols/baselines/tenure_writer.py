"""Slot `journal_sync`, mechanism `bookkeeper`: a group is an entry. It is safe when the acknowledgement quorum of its write set has it durably.

A ledger lasts for a number of entries. One write closes it and names the next one. Entries that are then unconfirmed are sent again in the
next: whatever the old ledger has behind its end is not part of it. No entry is confirmed before the outcome of the write is known.

Ledgers that images cover are dropped from the record first. Bookies forget them afterwards, so that nothing that the record names is missing.
"""

from __future__ import annotations

from nodes.config import ClusterConfig
from nodes.metadata_server.own_journal import OwnJournal
from nodes.protocols.baselines.ledger_writer import TICK_NS, FindBookies, LedgerWriter
from nodes.protocols.baselines.ledgers import LedgerMetadata, OwnBook
from nodes.wire.journal_messages import ForgetLedgers
from nodes.wire.messages import JournalGroup, Mark
from nodes.world import World

LEDGER_ENTRIES = 10_000
LEDGERS_MAX = 64
"""A group with so many ledgers begins no other in the same tenure: no image covers them, and shorter ones would only enlarge the record."""


class TenureWriter(LedgerWriter):
    """The writer of one tenure, which keeps the book."""

    def __init__(
        self,
        world: World,
        cluster: ClusterConfig,
        own_book: OwnBook,
        local: OwnJournal,
        patience_ns: int,
        find: FindBookies,
        confirmed_sn: int,
    ):
        super().__init__(
            world, own_book, patience_ns, find, confirmed_sn, recovering=False, records_changes=True
        )
        self._bookies = cluster.journal.nodes
        self._entries_max = cluster.knobs.ledger_entries or LEDGER_ENTRIES
        self._local = local
        self._pruned_sn = 0

    @property
    def configuration_number(self) -> int:
        return self.ledger.number

    @property
    def lacks_quorum(self) -> bool:
        return False

    def write(self, group: JournalGroup, data: bytes, mark: Mark) -> None:
        self._local.append(group, data, mark)
        self.add(group.sn, data)

    def report_commit(self, sn: int) -> None:
        """The next entry carries the commit sn."""

    def safe(self, sn: int) -> bool:
        return self._own_sn >= sn and self.confirmed_sn >= sn

    def holders(self, sn: int) -> list[str]:
        """Bookies that have the entry. Entries are spread, so that a bookie need not have those before it."""
        mine = [self._world.name] if self._own_sn >= sn else []
        entry = self._pending.get(sn)
        if entry is not None:
            return mine + [bookie for bookie in entry.write_set if bookie in entry.stored]
        return mine + (self._write_set(sn) if sn <= self.confirmed_sn else [])

    def on_own_durable(self, mark: Mark) -> None:
        self._own_sn = mark.sn
        self.on_progress()

    def prune(self, sn: int) -> None:
        self._pruned_sn = max(self._pruned_sn, sn)

    # --- time --------------------------------------------------------------------------------------------------

    async def keep(self) -> None:
        self._forget()
        while True:
            await self.tend()
            await self._truncate()
            await self._world.clock.sleep(TICK_NS)

    async def _truncate(self) -> None:
        """Drops the ledgers that images cover, and begins the next ledger when this one has all its entries."""
        book = self.book.behind(self._pruned_sn)
        if self._is_full() and len(book.ledgers) < LEDGERS_MAX:
            closed, following = self.ledger.followed_by(self.confirmed_sn)
            await self._move(LedgerMetadata([*book.with_last(closed).ledgers, following]))
        elif book != self.book:
            await self._own_book.write(book)
        else:
            return
        self._forget()

    def _is_full(self) -> bool:
        return self.confirmed_sn - self.ledger.first_sn >= self._entries_max - 1

    def _forget(self) -> None:
        """Lets bookies forget dropped ledgers. One that misses this message receives it with the next ledger."""
        first = self.book.ledgers[0].number
        for sn in [sn for sn, entry in self._pending.items() if entry.ledger < first]:
            del self._pending[sn]
        for bookie in self._bookies:
            self._world.network.send(bookie, ForgetLedgers(first))
