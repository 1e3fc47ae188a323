"""What an acceptor has on its disk: records in the order of their arrival, each with the ballot under which it was accepted.

An entry of the journal is a ballot (u64, little-endian) and a record; under ballot 0 it is a success pointer: a slot (u64) up to which all was
decided, the view as of it, and the mark of its record (`AtPointer`). A later entry for a slot replaces an earlier one. What is told of the journal to
the outside is the run of records without a gap, each naming the one before it.

Slots up to `base` are here no more: an image reaches further. The newest pointer is never dropped, and nothing above the pointer that is durable
ever is. So whoever reads the journal later can tell whether anything lacks between an image and what this server had (`leads_from`).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

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


class AtPointer(msgspec.Struct, array_like=True, frozen=True):
    """What is true at a success pointer."""

    view: list[str] = []
    """As of the slot; empty where that was not known: the namespace came from an image."""
    mark: Mark | None = None
    """Of the slot: what lies below may have been accepted under a ballot that decided nothing, where an image took its place."""


_at_pointer = msgspec.msgpack.Decoder(AtPointer)
NOWHERE = AtPointer()


class Pointer(NamedTuple):
    """Everything up to `slot` was decided and here, when this was written at `position` of the journal."""

    slot: int
    position: int
    at: AtPointer = NOWHERE


class SlotLog:
    """The journal on disk and, in memory, where each slot's latest record lies in it. `GroupLog` of nodes/slots.py."""

    def __init__(self, world: World, journal: Journal):
        self._world = world
        self._journal = journal
        self.base = NOTHING
        self._positions = array("Q")
        """By slot, from the one behind `base`: the journal's number of its record; 0 for an empty slot."""
        self._crcs = array("Q")
        self._epochs = array("Q")
        self._untold: dict[int, tuple[Mark, Durable]] = {}
        """Slots of which nobody was told: the record before, and what is to be told."""
        self.told = NOTHING
        """The end of the journal as the outside knows it."""
        self.pointer = Pointer(0, 0)
        """The newest in the journal."""
        self._durable_pointer = self.pointer
        self.dirty = False

    # --- opening ---------------------------------------------------------------------------------------------------

    def load(self) -> None:
        """Reads the journal once. Raises JournalCorrupt."""
        for position, octets in self._journal.entries(self._journal.first_sn, self._journal.last_sn):
            [ballot] = NUMBER.unpack_from(octets)
            try:
                if ballot:
                    self._read_record(position, octets[NUMBER.size :], len(octets))
                else:
                    self._read_pointer(position, octets[NUMBER.size :])
            except (msgspec.DecodeError, msgspec.ValidationError) as error:
                raise JournalCorrupt("journal", 0, position, f"holds no record of a slot: {error}") from None

    def _read_record(self, position: int, octets: bytes, size: int) -> None:
        self._point(decode_record(octets), crc32c(octets), position, size)

    def _read_pointer(self, position: int, octets: bytes) -> None:
        [slot] = NUMBER.unpack_from(octets)
        at = _at_pointer.decode(octets[NUMBER.size :]) if len(octets) > NUMBER.size else NOWHERE
        self.pointer = self._durable_pointer = Pointer(slot, position, at)

    @property
    def pruned(self) -> bool:
        """Whether the journal begins later than the first slot, so that an image is needed under it."""
        return self._journal.first_sn > 1

    def leads_from(self, image: Mark) -> bool:
        """Whether nothing lacks here between an image and the success pointer: then nothing lacks behind the pointer either.

        Slots are dropped only up to a pointer that stays. Before `open_behind`.
        """
        mark = image
        while mark.sn < self.pointer.slot:
            following = self.mark_at(mark.sn + 1)
            if following is None or self._untold[following.sn][0] != mark:
                return False
            mark = following
        decided = self.pointer.at.mark
        return mark.sn > self.pointer.slot or decided is None or mark == decided

    def open_behind(self, image: Mark) -> None:
        """The namespace begins with this image; what a restarted server finds on its disk behind it counts as told.

        Slots below it that lead to it can still be given to others; what else lies there was never decided.
        """
        base = image
        while base.sn and self.mark_at(base.sn) == base:
            base = self._untold[base.sn][0]
        if base.sn:
            self._forget_up_to(base)
        self.told = base
        while self._next_untold() is not None:
            self._tell_next()

    def begin_behind(self, image: Mark) -> None:
        """An image has taken the place of everything up to it, while the server runs; accepted slots above it stay."""
        held = self.mark_at(image.sn)
        if held != image and self.told.sn > image.sn:
            self.told = image
        self._forget_up_to(image)
        if self.told.sn < image.sn:
            self.told = image
        self.dirty = True

    def _forget_up_to(self, base: Mark) -> None:
        gone = base.sn - self.base.sn
        for column in (self._positions, self._crcs, self._epochs):
            del column[:gone]
        self._untold = {slot: each for slot, each in self._untold.items() if slot > base.sn}
        self.base = base

    # --- reading ---------------------------------------------------------------------------------------------------

    @property
    def last(self) -> Mark:
        return self.told

    @property
    def end(self) -> int:
        """The last slot in which there is, or was, a record."""
        return self.base.sn + len(self._positions)

    @property
    def size(self) -> int:
        return self._journal.size

    def _position(self, slot: int) -> int:
        index = slot - self.base.sn - 1
        return self._positions[index] if 0 <= index < len(self._positions) else 0

    def octets_behind(self, sn: int) -> int:
        """Of all entries that came after the record of this slot; of all there are when it is here no more."""
        return self._journal.octets_behind(self._position(sn) or self._journal.first_sn - 1)

    def mark_at(self, sn: int) -> Mark | None:
        """Names the record in a slot; None when it is empty."""
        if sn == self.base.sn:
            return self.base
        if not self._position(sn):
            return None
        index = sn - self.base.sn - 1
        return Mark(0, self._epochs[index], sn, self._crcs[index])

    def holds(self, mark: Mark) -> bool:
        return self.mark_at(mark.sn) == mark

    def agrees_up_to(self, tails: list[Mark]) -> int | None:
        return max((mark.sn for mark in tails if self.holds(mark)), default=None)

    def stored(self, slot: int) -> tuple[int, bytes] | None:
        """(ballot, octets) of the record in a slot. Raises OSError."""
        position = self._position(slot)
        for _, octets in self._journal.entries(position, position) if position else ():
            return NUMBER.unpack_from(octets)[0], octets[NUMBER.size :]
        return None

    def accepted(self) -> Iterator[tuple[int, LogRecord]]:
        """(ballot, record) of every slot behind `base`, in the order of their arrival. Raises OSError."""
        for position, octets in self._journal.entries(self._journal.first_sn, self._journal.last_sn):
            [ballot] = NUMBER.unpack_from(octets)
            record = decode_record(octets[NUMBER.size :]) if ballot else None
            if record is not None and self._position(record.sn) == position:
                yield ballot, record

    def octets(self, from_sn: int, to_sn: int, most_bytes: int | None = None) -> list[bytes]:
        """Records of these slots, without gap from `from_sn`. Raises OSError."""
        found: list[bytes] = []
        left = most_bytes or 0
        for slot in range(from_sn, to_sn + 1):
            stored = self.stored(slot)
            left -= len(stored[1]) if stored else 0
            if stored is None or (found and most_bytes is not None and left < 0):
                break
            found.append(stored[1])
        return found

    def group_at(self, sn: int) -> LogRecord | None:
        stored = self.stored(sn)
        return None if stored is None else decode_record(stored[1])

    # --- writing ---------------------------------------------------------------------------------------------------

    def put(self, ballot: int, record: LogRecord, octets: bytes) -> None:
        """The record of a slot behind `base` under this ballot; not durable before `sync`. Raises OSError."""
        crc = crc32c(octets)
        mine = self.mark_at(record.sn)
        position = self._journal.last_sn + 1
        self._journal.append(position, ballot, NUMBER.pack(ballot) + octets)
        self.dirty = True
        if mine is not None and mine.crc == crc:
            self._positions[record.sn - self.base.sn - 1] = position
            return
        if record.sn <= self.told.sn:
            self._cut(record.sn - 1, f"ballot {ballot} has another record for slot {record.sn}")
        self._point(record, crc, position, len(octets))

    def _point(self, record: LogRecord, crc: int, position: int, size: int) -> None:
        lacking = record.sn - self.end
        for column in (self._positions, self._crcs, self._epochs) if lacking > 0 else ():
            column.extend([0] * lacking)
        index = record.sn - self.base.sn - 1
        self._positions[index], self._crcs[index], self._epochs[index] = position, crc, record.epoch
        durable = Durable(record.sn, record.epoch, record.groupid, crc, len(record.records), size)
        self._untold[record.sn] = (record.previous, durable)

    def _cut(self, slot: int, reason: str) -> None:
        told = self.mark_at(slot)
        assert told is not None
        self.told = told
        self._world.trace.emit(Cut(slot, reason))

    def mark_success(self, slot: int, view: list[str]) -> None:
        """Everything up to this slot is decided; rides along with the next records. `view`: as of the slot, empty when it is not known."""
        if slot > self.pointer.slot and (self.dirty or slot - self.pointer.slot >= MARK_EVERY):
            position = self._journal.last_sn + 1
            at = AtPointer(view, self.mark_at(slot))
            self._journal.append(position, 0, NUMBER.pack(0) + NUMBER.pack(slot) + _encoder.encode(at))
            self.pointer = Pointer(slot, position, at)
            self.dirty = True

    async def sync(self) -> None:
        """Everything put before the call is durable when this returns, and told. Raises OSError."""
        self.dirty = False
        upto, pointer = self._journal.last_sn, self.pointer
        await self._journal.sync()
        self._durable_pointer = pointer
        while (durable := self._next_untold()) is not None and self._position(durable.sn) <= upto:
            self._tell_next()
            self._world.trace.emit(durable)

    def _next_untold(self) -> Durable | None:
        """Of the slot behind the told end, if its record names that end."""
        previous, durable = self._untold.get(self.told.sn + 1, (NOTHING, None))
        return durable if durable is not None and previous == self.told else None

    def _tell_next(self) -> None:
        _, durable = self._untold.pop(self.told.sn + 1)
        self.told = Mark(0, durable.epoch, durable.sn, durable.crc)

    # --- pruning ---------------------------------------------------------------------------------------------------

    def prune(self, sn: int) -> bool:
        """Forgets slots up to sn, as far as whole segments go that hold neither another slot's record nor the durable success pointer."""
        pointer = self._durable_pointer
        sn = min(sn, pointer.slot)
        behind = (position for position in self._positions[max(0, sn - self.base.sn) :] if position)
        self._journal.drop_before(min(pointer.position, min(behind, default=pointer.position)))
        base, slot = self.base.sn, sn
        while slot > base and self._position(slot) >= self._journal.first_sn:
            slot -= 1
        mark = self.mark_at(slot)
        if slot <= base or mark is None:
            return False
        self._forget_up_to(mark)
        return True
