"""A bookie as in BookKeeper: it keeps entries of many ledgers in one journal, and refuses the writer of a fenced ledger.

Each record of the journal is an entry or a fence. The index of entries is kept in memory and rebuilt at the start.
"""

from __future__ import annotations

from bisect import bisect_left, insort

import msgspec

from nodes.config import JournalNodeConfig
from nodes.errors import Damaged
from nodes.ignoring import Ignoring
from nodes.replicas.anew import start_anew_if_damaged
from nodes.storage.identity import Identity
from nodes.storage.journal_file import Journal
from nodes.trace.events import Warned
from nodes.trace.journal_events import JournalStored, WriterFenced
from nodes.wake import Inbox, Wake
from nodes.wire.journal_messages import AddEntry, EntriesRead, EntryAdded, LedgerFenced, ReadEntries
from nodes.wire.messages import Message
from nodes.world import World

READ_BYTES = 1 << 20
WAITING_MAX = 4_096
"""Messages that wait for the disk; further ones are dropped, and their sender chooses another bookie."""


class Stored(msgspec.Struct, array_like=True):
    """One record of the journal; a fence has sn 0."""

    ledger: int
    sn: int
    confirmed_sn: int
    data: bytes


class LedgerPart(msgspec.Struct):
    """This bookie's part of one ledger."""

    places: dict[int, int]
    """Entry to the number of its journal record."""
    numbers: list[int] = []
    confirmed_sn: int = 0
    fenced: bool = False
    writer: str = ""
    """The peer whose entries this bookie takes since its start. A ledger has one writer, and one closing server once it is fenced."""


class Bookie:
    def __init__(self, world: World, config: JournalNodeConfig):
        self._world = world
        self._ignoring = Ignoring(world)
        self._journal = Journal.open(world.disk, "journal", config.cluster.mutations, config.cluster.knobs)
        self._identity = Identity(world, self._journal)
        self._ledgers: dict[int, LedgerPart] = {}
        for place, data in self._journal.entries(1, self._journal.last_sn):
            try:
                self._know(place, msgspec.msgpack.decode(data, type=Stored))
            except msgspec.DecodeError as error:
                raise Damaged(f"record {place} of the journal is none of a bookie's: {error}") from None
        self._inbox: Inbox[AddEntry | ReadEntries] = Inbox()
        self._wanted = Wake()
        self._replies: list[tuple[str, Message]] = []
        self._reported: JournalStored | None = None

    def _know(self, place: int, stored: Stored) -> None:
        part = self._ledgers.setdefault(stored.ledger, LedgerPart({}))
        part.confirmed_sn = max(part.confirmed_sn, stored.confirmed_sn)
        if stored.sn:
            if stored.sn not in part.places:
                insort(part.numbers, stored.sn)
            part.places[stored.sn] = place
        else:
            part.fenced = True

    def start(self) -> None:
        self._world.network.receive(self.on_message)
        self._world.scope.spawn(self.run(), "ledgers")

    # --- steps -------------------------------------------------------------------------------------------------

    def on_message(self, peer: str, message: Message) -> None:
        if isinstance(message, ReadEntries) and not message.fence:
            self._world.network.send(peer, self._read(message))
        elif isinstance(message, AddEntry | ReadEntries):
            if len(self._inbox) < WAITING_MAX:
                self._inbox.put(peer, message)
                self._wanted.set()
        else:
            self._world.trace.emit(
                Warned(f"{peer} sent a {type(message).__name__}, which a bookie does not take")
            )

    def _read(self, message: ReadEntries) -> EntriesRead:
        """The entries of this bookie that fit into one reply."""
        numbers, entries, total = list[int](), list[bytes](), 0
        part = self._ledgers.get(message.ledger, LedgerPart({}))
        covered_sn = message.to_sn
        for place in range(bisect_left(part.numbers, message.from_sn), len(part.numbers)):
            sn = part.numbers[place]
            if sn > message.to_sn:
                break
            if total >= READ_BYTES:
                covered_sn = sn - 1
                break
            data = self._bytes_at(part.places[sn])
            numbers.append(sn)
            entries.append(data)
            total += len(data)
        disk = self._identity.id
        return EntriesRead(
            message.call, message.from_sn, covered_sn, part.confirmed_sn, numbers, entries, disk
        )

    # --- the one writer ----------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Takes messages, makes them durable and answers, without end. Raises OSError of the disk."""
        await self._identity.keep()
        while True:
            await self._wanted.wait()
            for peer, message in self._inbox.take():
                if isinstance(message, AddEntry):
                    self._add(peer, message)
                else:
                    self._fence(peer, message)
            await self._journal.sync()
            if self._reported is not None:
                reported, self._reported = self._reported, None
                self._world.trace.emit(reported)
            replies, self._replies = self._replies, []
            for peer, reply in replies:
                self._world.network.send(peer, reply)

    def _add(self, peer: str, message: AddEntry) -> None:
        part = self._ledgers.setdefault(message.ledger, LedgerPart({}))
        unfit = self._unfit(peer, part, message)
        if unfit:
            self._ignoring.report(peer, message, unfit)
            return
        if part.fenced and not message.recovering:
            self._ignoring.report(peer, message, f"ledger {message.ledger} is being closed")
            self._replies.append((peer, LedgerFenced(message.ledger)))
            return
        if not message.recovering:
            part.writer = peer
        self._store(Stored(message.ledger, message.sn, message.confirmed_sn, message.data))
        self._reported = JournalStored(
            message.sn, message.ledger, 1 + (self._reported.groups if self._reported else 0)
        )
        self._replies.append((peer, EntryAdded(message.ledger, message.sn, self._identity.id.instance)))

    def _unfit(self, peer: str, part: LedgerPart, message: AddEntry) -> str:
        """Reason why this cannot be an entry of the ledger; empty when it can."""
        ledger, sn = message.ledger, message.sn
        if not message.confirmed_sn < sn or sn < 1:
            return f"of entry {sn} behind {message.confirmed_sn}, which cannot be"
        if part.writer not in ("", peer) and not message.recovering:
            return f"ledger {ledger} is written by {part.writer}"
        its_own = part.writer == peer and not message.recovering and sn > part.confirmed_sn
        if sn in part.places and not its_own and self._bytes_at(part.places[sn]) != message.data:
            return f"ledger {ledger} has another entry {sn}"
        return ""

    def _bytes_at(self, place: int) -> bytes:
        [(_, data)] = self._journal.entries(place, place)
        return msgspec.msgpack.decode(data, type=Stored).data

    def _fence(self, peer: str, message: ReadEntries) -> None:
        part = self._ledgers.get(message.ledger)
        if part is None or not part.fenced:
            self._store(Stored(message.ledger, 0, 0, b""))
            self._world.trace.emit(WriterFenced(message.ledger))
        self._replies.append((peer, self._read(message)))

    def _store(self, stored: Stored) -> None:
        place = self._journal.last_sn + 1
        self._journal.append(place, 0, msgspec.msgpack.encode(stored))
        self._know(place, stored)


def start_bookie(world: World, config: JournalNodeConfig) -> None:
    """Starts a bookie in this world. Raises UnknownJournal, UnknownSeal, other Damaged, OSError of the disk's content."""
    start_anew_if_damaged(world, lambda: Bookie(world, config).start())
