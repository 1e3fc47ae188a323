"""What BookKeeper keeps in the coordination service: the ledgers of a group's journal, in order, and which bookies have what of them."""

from __future__ import annotations

import msgspec

from nodes.replicas.view import GlobalView
from nodes.world import Coordination, NoNode, Set, ensure


class Fragment(msgspec.Struct, frozen=True):
    """From this sn on the entries of a ledger are spread over these bookies, its ensemble."""

    from_sn: int
    bookies: list[str]
    disks: dict[str, int] = {}
    """With which each of them takes entries: another disk does not have them (safety rule 23)."""


class Ledger(msgspec.Struct, frozen=True):
    number: int
    first_sn: int
    fragments: list[Fragment]
    last_sn: int = -1
    """-1 until it is closed."""
    write_quorum: int = 3
    """Bookies that each entry is sent to."""
    ack_quorum: int = 3
    """So many of them have an entry durably before anybody is answered."""

    @property
    def closed(self) -> bool:
        return self.last_sn >= 0

    @property
    def witnesses(self) -> int:
        """So many of an entry's write set without it prove that nobody was answered; so many of it fenced keep it from being acknowledged."""
        return self.write_quorum - self.ack_quorum + 1

    def write_set(self, fragment: Fragment, sn: int) -> list[str]:
        """The bookies of one entry: so many as the write quorum, beginning at sn modulo the ensemble."""
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
        """Who has the entry, and the last one that lies at the same bookies; -1 when that is open."""
        place = max(index for index, each in enumerate(self.fragments) if each.from_sn <= sn)
        later = self.fragments[place + 1 :]
        return self.fragments[place], later[0].from_sn - 1 if later else self.last_sn


class Book(msgspec.Struct, frozen=True):
    """All ledgers, and the bookies of an open one that somebody has begun to close."""

    ledgers: list[Ledger] = []
    closing: int = 0
    """Number of the ledger that a later writer is closing; 0 when nobody does."""

    def ledger_of(self, sn: int) -> Ledger | None:
        """The newest ledger that has the entry, or will."""
        for ledger in reversed(self.ledgers):
            if ledger.first_sn <= sn and (not ledger.closed or sn <= ledger.last_sn):
                return ledger
        return None

    def with_last(self, ledger: Ledger, closing: int = 0) -> Book:
        return Book([*self.ledgers[:-1], ledger], closing)


class Ledgers:
    """The node of one group. Every change checks that nobody else has made one, and that the lock is still ours."""

    def __init__(self, coordination: Coordination, view: GlobalView):
        self._coordination = coordination
        self._view = view
        self._path = view.path("ledgers")

    async def read(self) -> tuple[Book, int]:
        """The book and its version. Raises CoordinationError."""
        try:
            octets, stat = await self._coordination.get(self._path)
        except NoNode:
            return Book(), -1
        return (msgspec.json.decode(octets, type=Book) if octets else Book()), stat.version

    async def read_newest(self) -> tuple[Book, int]:
        """As it stands now; the node is made when it lacks. Raises CoordinationError."""
        await ensure(self._coordination, self._path)
        await self._coordination.sync(self._path)
        return await self.read()

    async def write(self, book: Book, version: int) -> None:
        """Raises LostLock, ViewMoved, ConnectionLoss."""
        await self._view.guarded([Set(self._path, msgspec.json.encode(book), version)])
