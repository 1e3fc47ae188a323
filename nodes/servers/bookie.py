"""A bookie as BookKeeper has it: keeps entries of many ledgers in one journal, and refuses a fenced ledger's writer.

Each record of the journal is an entry or a fence; which entry lies where is kept in memory and read again at the start.
"""

from __future__ import annotations

from bisect import bisect_left, insort

import msgspec

from nodes.config import JournalNodeConfig
from nodes.errors import Damaged
from nodes.replicas.anew import start_anew_if_damaged
from nodes.storage.identity import Identity
from nodes.storage.journal_file import Journal
from nodes.trace.events import Warned
from nodes.trace.ignoring import Ignoring
from nodes.trace.journal_events import JournalStored, WriterFenced
from nodes.wake import Inbox, Wake
from nodes.wire.journal_messages import AddEntry, EntriesRead, EntryAdded, LedgerFenced, ReadEntries
from nodes.wire.messages import Message
from nodes.world import World

READ_OCTETS = 1 << 20
WAITING_MAX = 4_096
"""Messages that wait for the disk; more are dropped, and their sender takes another bookie."""


class Stored(msgspec.Struct, array_like=True):
    """One record of the journal; a fence has sn 0."""

    ledger: int
    sn: int
    confirmed_sn: int
    octets: bytes


class LedgerPart(msgspec.Struct):
    """What this bookie has of one ledger."""

    places: dict[int, int]
    """Entry to the record of the journal."""
    numbers: list[int] = []
    """The entries, ascending."""
    confirmed_sn: int = 0
    fenced: bool = False
    writer: str = ""
    """Whose entries it takes since this bookie was started; a ledger has one writer, and one who closes it when it is fenced."""


class Bookie:
    def __init__(self, world: World, config: JournalNodeConfig):
        self._world = world
        self._ignoring = Ignoring(world)
        self._journal = Journal.open(world.disk, "journal", config.cluster.mutations, config.cluster.knobs)
        self._identity = Identity(world, self._journal)
        self._ledgers: dict[int, LedgerPart] = {}
        for place, octets in self._journal.entries(1, self._journal.last_sn):
            try:
                self._know(place, msgspec.msgpack.decode(octets, type=Stored))
            except msgspec.DecodeError as error:
                raise Damaged(f"record {place} of the journal is none of a bookie's: {error}") from None
        self._inbox: Inbox[AddEntry | ReadEntries] = Inbox()
        self._wanted = Wake()
        self._replies: list[tuple[str, Message]] = []
        self._told: JournalStored | None = None

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
        """As much as one answer takes of what is here."""
        numbers, entries, total = list[int](), list[bytes](), 0
        part = self._ledgers.get(message.ledger, LedgerPart({}))
        covered_sn = message.to_sn
        for place in range(bisect_left(part.numbers, message.from_sn), len(part.numbers)):
            sn = part.numbers[place]
            if sn > message.to_sn:
                break
            if total >= READ_OCTETS:
                covered_sn = sn - 1
                break
            octets = self._octets_at(part.places[sn])
            numbers.append(sn)
            entries.append(octets)
            total += len(octets)
        disk = self._identity.id
        return EntriesRead(
            message.call, message.from_sn, covered_sn, part.confirmed_sn, numbers, entries, disk
        )

    # --- the one writer ----------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Takes what has arrived, makes it durable, answers; for ever. Raises OSError of the disk."""
        await self._identity.keep()
        while True:
            await self._wanted.wait()
            for peer, message in self._inbox.take():
                if isinstance(message, AddEntry):
                    self._add(peer, message)
                else:
                    self._fence(peer, message)
            await self._journal.sync()
            if self._told is not None:
                told, self._told = self._told, None
                self._world.trace.emit(told)
            replies, self._replies = self._replies, []
            for peer, reply in replies:
                self._world.network.send(peer, reply)

    def _add(self, peer: str, message: AddEntry) -> None:
        part = self._ledgers.setdefault(message.ledger, LedgerPart({}))
        unfit = self._unfit(peer, part, message)
        if unfit:
            self._ignoring.tell(peer, message, unfit)
            return
        if part.fenced and not message.recovering:
            self._ignoring.tell(peer, message, f"ledger {message.ledger} is being closed")
            self._replies.append((peer, LedgerFenced(message.ledger)))
            return
        if not message.recovering:
            part.writer = peer
        self._store(Stored(message.ledger, message.sn, message.confirmed_sn, message.octets))
        self._told = JournalStored(message.sn, message.ledger, 1 + (self._told.groups if self._told else 0))
        self._replies.append((peer, EntryAdded(message.ledger, message.sn, self._identity.id.instance)))

    def _unfit(self, peer: str, part: LedgerPart, message: AddEntry) -> str:
        """Why this cannot be an entry of the ledger, or nothing."""
        ledger, sn = message.ledger, message.sn
        if not message.confirmed_sn < sn or sn < 1:
            return f"of entry {sn} behind {message.confirmed_sn}, which cannot be"
        if part.writer not in ("", peer) and not message.recovering:
            return f"ledger {ledger} is written by {part.writer}"
        its_own = part.writer == peer and not message.recovering and sn > part.confirmed_sn
        if sn in part.places and not its_own and self._octets_at(part.places[sn]) != message.octets:
            return f"ledger {ledger} has another entry {sn}"
        return ""

    def _octets_at(self, place: int) -> bytes:
        [(_, octets)] = self._journal.entries(place, place)
        return msgspec.msgpack.decode(octets, type=Stored).octets

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
    """Starts a bookie in this world. Raises UnknownJournal, UnknownSeal, other Damaged, OSError of what lies on the disk."""
    start_anew_if_damaged(world, lambda: Bookie(world, config).start())
