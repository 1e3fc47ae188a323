"""A bookie as in BookKeeper: it keeps entries of many ledgers in one journal, and refuses the writer of a fenced ledger.

Each record of the journal is an entry or a fence. The index of entries is kept in memory and rebuilt at the start.

Forgotten ledgers leave dead records. The oldest files of the journal are removed when no record in them is live. When half of the journal is
dead, live records of the oldest file are appended again first, so that the ledger of an idle group does not keep everything behind it.
"""

from __future__ import annotations

from bisect import bisect_left, insort

import msgspec

from nodes.config import NodeConfig
from nodes.errors import Damaged
from nodes.ignored_messages import Ignoring
from nodes.replicas.fresh_start import start_anew_if_damaged
from nodes.servers.low_water import LOW_WATER_FILE, LowWater
from nodes.storage.identity import DiskIdentity
from nodes.storage.journal_file import Journal
from nodes.trace.events import Warned
from nodes.trace.journal_events import JournalStored, LedgersForgotten, WriterFenced
from nodes.wake import Inbox, Wake
from nodes.wire.journal_messages import (
    LEDGERS_SHIFT,
    AddEntry,
    EntriesRead,
    EntryAdded,
    ForgetLedgers,
    LedgerFenced,
    ReadEntries,
)
from nodes.wire.messages import Message
from nodes.world import World

READ_BYTES = 1 << 20
WAITING_MAX = 4_096
"""Messages that wait for the disk; further ones are dropped, and their sender chooses another bookie."""
AHEAD_MAX = 1 << 16
"""Largest distance of a low-water mark from the newest ledger known here: the number of ledgers that a bookie may have missed."""
FENCE = 0
"""Stands for the sn of a fence."""

Writes = AddEntry | ReadEntries | ForgetLedgers


class Stored(msgspec.Struct, array_like=True):
    """One record of the journal: an entry, or a fence."""

    ledger: int
    sn: int
    confirmed_sn: int
    data: bytes


class LedgerPart(msgspec.Struct):
    """This bookie's part of one ledger."""

    places: dict[int, int]
    """Sn of an entry, or of the fence, to the number of its journal record."""
    numbers: list[int] = []
    confirmed_sn: int = 0
    writer: str = ""
    """The peer whose entries this bookie takes since its start. A ledger has one writer, and one closing server once it is fenced."""

    @property
    def fenced(self) -> bool:
        return FENCE in self.places


class Bookie:
    def __init__(self, world: World, config: NodeConfig):
        self._world = world
        self._ignoring = Ignoring(world)
        self._journal = Journal.open(world.disk, "journal", config.cluster.mutations, config.cluster.knobs)
        self._identity = DiskIdentity(world, self._journal)
        self._low_water = LowWater(world.disk)
        self._ledgers: dict[int, LedgerPart] = {}
        for place, data in self._journal.entries(self._journal.first_sn, self._journal.last_sn):
            try:
                self._know(place, msgspec.msgpack.decode(data, type=Stored))
            except msgspec.DecodeError as error:
                raise Damaged(f"record {place} of the journal is none of a bookie's: {error}") from None
        self._inbox: Inbox[Writes] = Inbox()
        self._wanted = Wake()
        self._replies: list[tuple[str, Message]] = []
        self._reported: JournalStored | None = None

    def _know(self, place: int, stored: Stored) -> None:
        if self._low_water.covers(stored.ledger):
            return
        part = self._ledgers.setdefault(stored.ledger, LedgerPart({}))
        part.confirmed_sn = max(part.confirmed_sn, stored.confirmed_sn)
        if stored.sn != FENCE and stored.sn not in part.places:
            insort(part.numbers, stored.sn)
        part.places[stored.sn] = place

    def start(self) -> None:
        self._world.network.receive(self.on_message)
        self._world.scope.spawn(self.run(), "ledgers")

    # --- steps -------------------------------------------------------------------------------------------------

    def on_message(self, peer: str, message: Message) -> None:
        if isinstance(message, ReadEntries) and not message.fence:
            self._world.network.send(peer, self._read(message))
        elif isinstance(message, Writes):
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
        covered_sn = message.from_sn - 1 if self._low_water.covers(message.ledger) else message.to_sn
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
                elif isinstance(message, ForgetLedgers):
                    await self._forget(peer, message)
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
        if self._low_water.covers(message.ledger):
            self._ignoring.report(peer, message, f"ledger {message.ledger} is forgotten")
            self._replies.append((peer, LedgerFenced(message.ledger)))
            return
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
        fenced = self._low_water.covers(message.ledger) or (part is not None and part.fenced)
        if not fenced:
            self._store(Stored(message.ledger, FENCE, 0, b""))
            self._world.trace.emit(WriterFenced(message.ledger))
        self._replies.append((peer, self._read(message)))

    def _store(self, stored: Stored) -> None:
        place = self._journal.last_sn + 1
        self._journal.append(place, 0, msgspec.msgpack.encode(stored))
        self._know(place, stored)

    # --- forgetting --------------------------------------------------------------------------------------------

    async def _forget(self, peer: str, message: ForgetLedgers) -> None:
        """Raises OSError."""
        below, mark = message.below, self._low_water.mark(message.below)
        group = [each for each in self._ledgers if each >> LEDGERS_SHIFT == below >> LEDGERS_SHIFT]
        newest = max([mark, *group])
        if below <= mark:
            return
        if below > newest + AHEAD_MAX:
            self._ignoring.report(peer, message, f"ledger {below} cannot be; the newest is {newest}")
            return
        for ledger in group:
            if ledger < below:
                del self._ledgers[ledger]
        await self._low_water.rise(below)
        await self._remove_dead_records()
        self._world.trace.emit(LedgersForgotten(below, self._journal.first_sn))

    async def _remove_dead_records(self) -> None:
        """Removes the journal's oldest files without live records, or with some while half of all records are dead. Raises OSError."""
        journal = self._journal
        while end := journal.oldest_end:
            live = self._live_records_up_to(end)
            records = sum(len(part.places) for part in self._ledgers.values())
            if live and 2 * records > journal.last_sn - journal.first_sn + 1:
                return
            for ledger, sn in live:
                part = self._ledgers[ledger]
                data = b"" if sn == FENCE else self._bytes_at(part.places[sn])
                self._store(Stored(ledger, sn, part.confirmed_sn, data))
            await journal.sync()
            journal.drop_before(end + 1)

    def _live_records_up_to(self, end: int) -> list[tuple[int, int]]:
        """(ledger, sn) of each."""
        return [
            (ledger, sn)
            for ledger, part in self._ledgers.items()
            for sn, place in part.places.items()
            if place <= end
        ]


def start_bookie(world: World, config: NodeConfig) -> None:
    """Starts a bookie in this world. Raises UnknownJournal, UnknownSeal, other Damaged, OSError of the disk's content."""
    start_anew_if_damaged(world, lambda: Bookie(world, config).start(), [LOW_WATER_FILE])
