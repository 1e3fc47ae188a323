"""What an acceptor has on its disk: records in the order of their arrival, each with the ballot under which it was accepted.

An entry of the journal is a ballot (u64, little-endian) and a record; under ballot 0 it is a slot (u64) up to which all was decided. A later entry
for a slot replaces an earlier one. What is told of the journal to the outside is the run of records without a gap, each naming the one before it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from struct import Struct

import msgspec
from crc32c import crc32c

from nodes.protocols.paxos.messages import LogRecord
from nodes.storage.journal_file import Journal, JournalCorrupt
from nodes.trace.events import Cut, Durable
from nodes.wire.messages import Mark
from nodes.world import World

NUMBER = Struct("<Q")
NOTHING = Mark(0, 0, 0, 0)
MARK_EVERY = 256
"""The success pointer rides along with records; after so many slots without one it is written by itself."""

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(LogRecord)


def encode_record(record: LogRecord) -> tuple[bytes, Mark]:
    octets = _encoder.encode(record)
    return octets, Mark(0, record.epoch, record.sn, crc32c(octets))


def decode_record(octets: bytes) -> LogRecord:
    """Raises msgspec.DecodeError, msgspec.ValidationError."""
    return _decoder.decode(octets)


class SlotLog:
    """The journal on disk and, in memory, where each slot's latest record lies in it."""

    def __init__(self, world: World, journal: Journal):
        self._world = world
        self._journal = journal
        self._positions = array("Q")
        """By slot, from 1: the journal's number of its record; 0 for an empty slot."""
        self._crcs = array("Q")
        self._epochs = array("Q")
        self._untold: dict[int, tuple[int, Durable]] = {}
        """Slots of which nobody was told: the CRC of the slot before, and what is to be told."""
        self.told = NOTHING
        """The end of the journal as the outside knows it."""
        self.marked = 0
        """The last success pointer in the journal."""
        self.dirty = False

    # --- reading ---------------------------------------------------------------------------------------------------

    def load(self) -> Iterator[tuple[int, LogRecord] | int]:
        """Reads the journal once: (ballot, record) for each record, a slot for each success pointer. Raises JournalCorrupt."""
        for position, octets in self._journal.entries(self._journal.first_sn, self._journal.last_sn):
            [ballot] = NUMBER.unpack_from(octets)
            if not ballot:
                [self.marked] = NUMBER.unpack_from(octets, NUMBER.size)
                yield self.marked
                continue
            try:
                record = decode_record(octets[NUMBER.size :])
            except (msgspec.DecodeError, msgspec.ValidationError) as error:
                raise JournalCorrupt("journal", 0, position, f"holds no record of a slot: {error}") from None
            self._point(record, crc32c(octets[NUMBER.size :]), position, len(octets))
            yield ballot, record

    def open_told(self) -> None:
        """What a restarted server finds on its disk counts as told."""
        while self._next_untold() is not None:
            self._tell_next()

    def mark_at(self, slot: int) -> Mark | None:
        """Names the record in a slot; None when it is empty."""
        if not slot:
            return NOTHING
        if slot > len(self._positions) or not self._positions[slot - 1]:
            return None
        return Mark(0, self._epochs[slot - 1], slot, self._crcs[slot - 1])

    def stored(self, slot: int) -> tuple[int, bytes] | None:
        """(ballot, octets) of the record in a slot. Raises OSError."""
        position = self._positions[slot - 1] if 0 < slot <= len(self._positions) else 0
        for _, octets in self._journal.entries(position, position) if position else ():
            return NUMBER.unpack_from(octets)[0], octets[NUMBER.size :]
        return None

    def octets(self, first: int, last: int, limit: int) -> list[bytes]:
        """Records of these slots, without gap from `first`, at most so many octets but one at least. Raises OSError."""
        found: list[bytes] = []
        for slot in range(first, last + 1):
            stored = self.stored(slot)
            limit -= len(stored[1]) if stored else 0
            if stored is None or (found and limit < 0):
                break
            found.append(stored[1])
        return found

    # --- writing ---------------------------------------------------------------------------------------------------

    def put(self, ballot: int, record: LogRecord, octets: bytes) -> None:
        """The record of a slot under this ballot; not durable before `sync`. Raises OSError."""
        crc = crc32c(octets)
        mine = self.mark_at(record.sn)
        position = self._journal.last_sn + 1
        self._journal.append(position, ballot, NUMBER.pack(ballot) + octets)
        self.dirty = True
        if mine is not None and mine.crc == crc:
            self._positions[record.sn - 1] = position
            return
        if record.sn <= self.told.sn:
            self._cut(record.sn - 1, f"ballot {ballot} has another record for slot {record.sn}")
        self._point(record, crc, position, len(octets))

    def _point(self, record: LogRecord, crc: int, position: int, size: int) -> None:
        lacking = record.sn - len(self._positions)
        for column in (self._positions, self._crcs, self._epochs) if lacking > 0 else ():
            column.extend([0] * lacking)
        index = record.sn - 1
        self._positions[index], self._crcs[index], self._epochs[index] = position, crc, record.epoch
        durable = Durable(record.sn, record.epoch, record.groupid, crc, len(record.records), size)
        self._untold[record.sn] = (record.previous.crc, durable)

    def _cut(self, slot: int, reason: str) -> None:
        told = self.mark_at(slot)
        assert told is not None
        self.told = told
        self._world.trace.emit(Cut(slot, reason))

    def mark_success(self, slot: int) -> None:
        """Everything up to this slot is decided; rides along with the next records."""
        if slot > self.marked and (self.dirty or slot - self.marked >= MARK_EVERY):
            self._journal.append(self._journal.last_sn + 1, 0, NUMBER.pack(0) + NUMBER.pack(slot))
            self.marked = slot
            self.dirty = True

    async def sync(self) -> None:
        """Everything put before the call is durable when this returns, and told. Raises OSError."""
        self.dirty = False
        upto = self._journal.last_sn
        await self._journal.sync()
        while (durable := self._next_untold()) is not None and self._positions[durable.sn - 1] <= upto:
            self._tell_next()
            self._world.trace.emit(durable)

    def _next_untold(self) -> Durable | None:
        """Of the slot behind the told end, if its record names that end."""
        previous, durable = self._untold.get(self.told.sn + 1, (0, None))
        return durable if durable is not None and previous == self.told.crc else None

    def _tell_next(self) -> None:
        _, durable = self._untold.pop(self.told.sn + 1)
        self.told = Mark(0, durable.epoch, durable.sn, durable.crc)
