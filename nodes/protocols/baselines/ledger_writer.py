"""Slot `journal_sync`, mechanism `bookkeeper`: a group is an entry, and safe when every bookie of the ensemble has it durably.

A bookie that does not answer in time is replaced by another one, which the ledger's record says before its answer counts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nodes.config import MILLISECOND
from nodes.protocols.baselines.ledgers import Book, Fragment, Ledger, Ledgers
from nodes.protocols.baselines.local import LocalJournal
from nodes.protocols.baselines.shared_journal import JournalLost
from nodes.replicas.view import ViewMoved
from nodes.trace.ignoring import Ignoring
from nodes.wire.journal_messages import AddEntry, EntryAdded, LedgerFenced
from nodes.wire.messages import JournalGroup, Mark
from nodes.world import ConnectionLoss, World

TICK_NS = 50 * MILLISECOND
PATIENCES = 8
"""So many times the patience with one bookie without a whole ensemble, and the writer gives up."""

FindBookies = Callable[[dict[str, int]], Awaitable[dict[str, int]]]
"""Who answers now and with which disk, but for those that are named with it."""


class LedgerWriter:
    """Adds entries to the last ledger of the book: a new one's, or in a recovery those that are written again (`recovering`)."""

    def __init__(
        self,
        world: World,
        ledgers: Ledgers,
        book: Book,
        version: int,
        local: LocalJournal,
        patience_ns: int,
        find: FindBookies,
        confirmed_sn: int,
        recovering: bool,
    ):
        self._world = world
        self._ignoring = Ignoring(world)
        self._ledgers = ledgers
        self.book = book
        self.version = version
        self._local = local
        self._patience_ns = patience_ns
        self._find = find
        self._recovering = recovering
        self.on_progress: Callable[[], None] = lambda: None
        self._confirmed_sn = confirmed_sn
        """Everything up to here is on the whole ensemble."""
        self._own_sn = confirmed_sn
        self._acknowledged: dict[str, int] = {}
        self._changing = False
        self._pending: dict[int, bytes] = {}
        """Entries that not everybody has acknowledged."""
        self._since_ns = 0
        self._sent_ns = 0
        self._lost = ""

    @property
    def ledger(self) -> Ledger:
        return self.book.ledgers[-1]

    @property
    def _ensemble(self) -> list[str]:
        return self.ledger.fragments[-1].bookies

    # --- slot --------------------------------------------------------------------------------------------------

    @property
    def configuration_number(self) -> int:
        return self.ledger.number

    @property
    def lacks_quorum(self) -> bool:
        return False

    def write(self, group: JournalGroup, octets: bytes, mark: Mark) -> None:
        self._local.append(group, octets, mark)
        self.add(group.sn, octets)

    def tell_commit(self, sn: int) -> None:
        """The next entry says so."""

    def safe(self, sn: int) -> bool:
        return self._own_sn >= sn and self._confirmed_sn >= sn

    def holders(self, sn: int) -> list[str]:
        mine = [self._world.name] if self._own_sn >= sn else []
        return mine + [name for name in self._ensemble if self._acknowledged.get(name, 0) >= sn]

    # --- steps -------------------------------------------------------------------------------------------------

    def add(self, sn: int, octets: bytes) -> None:
        self._pending[sn] = octets
        self._since_ns = self._world.clock.monotonic_ns()
        self._send(sn)

    def _send(self, sn: int) -> None:
        self._sent_ns = self._world.clock.monotonic_ns()
        message = AddEntry(self.ledger.number, sn, self._confirmed_sn, self._recovering, self._pending[sn])
        for name in self._ensemble:
            if self._acknowledged.get(name, 0) < sn:
                self._world.network.send(name, message)

    def on_own_durable(self, mark: Mark) -> None:
        self._own_sn = mark.sn
        self.on_progress()

    def on_added(self, peer: str, message: EntryAdded) -> None:
        """Entries are acknowledged in their order: a later one that comes early is sent again."""
        number = self.ledger.number
        if message.ledger != number:
            told = f"of ledger {message.ledger}; this is ledger {number}"
            self._ignoring.tell(peer, message, told)
        elif peer not in self._ensemble:
            self._ignoring.tell(peer, message, f"not of the ensemble of ledger {number}")
        elif message.disk != self.ledger.fragments[-1].disks.get(peer, message.disk):
            self._ignoring.tell(peer, message, f"of another disk than that of ledger {number}")
        else:
            if message.sn == self._acknowledged.get(peer, self._confirmed_sn) + 1:
                self._acknowledged[peer] = message.sn
            self._count()

    def _count(self) -> None:
        if self._changing:
            return
        least = min(self._acknowledged.get(name, 0) for name in self._ensemble)
        if least > self._confirmed_sn:
            for sn in range(self._confirmed_sn + 1, least + 1):
                self._pending.pop(sn, None)
            self._confirmed_sn = least
            self.on_progress()

    def on_fenced(self, peer: str, message: LedgerFenced) -> None:
        if message.ledger != self.ledger.number:
            told = f"of ledger {message.ledger}; this is ledger {self.ledger.number}"
            self._ignoring.tell(peer, message, told)
        else:
            self._lost = f"{peer} says that ledger {message.ledger} is being closed"

    @property
    def all_added(self) -> bool:
        return not self._pending

    # --- time --------------------------------------------------------------------------------------------------

    async def keep(self) -> None:
        while True:
            await self.tend()
            await self._world.clock.sleep(TICK_NS)

    async def tend(self) -> None:
        """Sends again, and replaces who does not answer. Raises JournalLost, LostLock, CoordinationError."""
        if self._lost:
            raise JournalLost(self._lost)
        if not self._pending:
            return
        now = self._world.clock.monotonic_ns()
        late = now - self._since_ns
        silent = [name for name in self._ensemble if self._acknowledged.get(name, 0) < min(self._pending)]
        if late > PATIENCES * self._patience_ns:
            raise JournalLost(f"{', '.join(silent)} of ledger {self.ledger.number} cannot be replaced")
        if late > self._patience_ns and silent:
            await self._replace(silent)
        elif now - self._sent_ns > 2 * TICK_NS:
            for sn in sorted(self._pending):
                self._send(sn)

    async def _replace(self, silent: list[str]) -> None:
        """A new fragment from the first entry that not everybody has: written before anybody's answer to it counts."""
        present = self.ledger.fragments[-1].disks
        found = await self._find(present or dict.fromkeys(self._ensemble, 0))
        kept = [name for name in self._ensemble if name not in silent]
        spare = [name for name in found if name not in kept][: len(silent)]
        if len(spare) < len(silent) or not self._pending:
            return
        disks = {name: present[name] for name in kept if name in present}
        disks |= {name: found[name] for name in spare}
        fragment = Fragment(min(self._pending), [*kept, *spare], disks)
        old = self.ledger
        fragments = [each for each in old.fragments if each.from_sn < fragment.from_sn]
        ledger = Ledger(old.number, old.first_sn, [*fragments, fragment])
        book = self.book.with_last(ledger, self.book.closing)
        self._changing = True
        try:
            await self._ledgers.write(book, self.version)
        except ViewMoved:
            raise JournalLost("somebody else has changed the ledgers") from None
        except ConnectionLoss:
            await self._read_back(book)
        self.book, self.version = book, self.version + 1
        self._changing = False
        for name in spare:
            self._acknowledged[name] = self._confirmed_sn
        for sn in sorted(self._pending):
            self._send(sn)
        self._count()

    async def _read_back(self, book: Book) -> None:
        """Raises JournalLost when the write did not happen, CoordinationError when even that is unknown."""
        stands, version = await self._ledgers.read_newest()
        if stands != book or version != self.version + 1:
            raise JournalLost("the change of the ensemble was not written")
