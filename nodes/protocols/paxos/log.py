"""An acceptor's log on disk: records in the order of their arrival, each with the ballot under which it was accepted.

An entry of the journal is a ballot (u64, little-endian) and a record. Under ballot 0 the entry is a success pointer: the last slot (u64) of the
decided prefix, the view as of it, and the mark of its record (`AtPointer`). A later entry for a slot replaces an earlier one. The log reports only
the run of records without a gap, each naming the one before it.

Slots up to `base` are pruned, because an image covers them. Pruning never drops the newest pointer, nor any record above the durable pointer. So
a later reader of the journal can check that no slot is missing between an image and the end of this server's log (`leads_from`).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

import msgspec
from crc32c import crc32c

from nodes.metadata.records import rollback_in
from nodes.protocols.paxos.messages import LogRecord
from nodes.storage.journal_file import CorruptJournal, Journal
from nodes.trace.events import Cut, Durable
from nodes.wire.messages import Mark
from nodes.world import World

NUMBER = Struct("<Q")
NOTHING = Mark(0, 0, 0, 0)
MARK_EVERY = 256
"""Most slots between two success pointers. A pointer is written together with records, or alone after this many slots."""

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(LogRecord)


def encode_record(record: LogRecord) -> tuple[bytes, Mark]:
    data = _encoder.encode(record)
    return data, Mark(0, record.epoch, record.sn, crc32c(data))


def decode_record(data: bytes) -> LogRecord:
    """Raises msgspec.DecodeError, msgspec.ValidationError."""
    return _decoder.decode(data)


class AtPointer(msgspec.Struct, array_like=True, frozen=True):
    """The view and the mark at a success pointer."""

    view: list[str] = []
    """View as of the slot; empty when unknown, because the namespace came from an image."""
    mark: Mark | None = None
    """Mark of the slot. Records below it may be of a ballot that decided nothing, where an image took their place."""


_at_pointer = msgspec.msgpack.Decoder(AtPointer)
NOWHERE = AtPointer()


class Pointer(NamedTuple):
    """A success pointer at `position` of the journal: every slot up to `slot` was decided and present when it was written."""

    slot: int
    position: int
    at: AtPointer = NOWHERE


class LogRun:
    """The reported run of records without a gap, each naming the one before it, and the records put after it."""

    def __init__(self) -> None:
        self.end = NOTHING
        self._behind: dict[int, tuple[Mark, Durable]] = {}
        """Previous mark and the Durable event to report, by slot."""

    def put(self, previous: Mark, durable: Durable) -> None:
        self._behind[durable.sn] = (previous, durable)

    def before(self, slot: int) -> Mark:
        """The predecessor named by the record in this slot, which is not reported yet."""
        return self._behind[slot][0]

    def following(self) -> Durable | None:
        """The Durable event of the slot after the end, if its record names the end as predecessor."""
        previous, durable = self._behind.get(self.end.sn + 1, (NOTHING, None))
        return durable if durable is not None and previous == self.end else None

    def go_on(self) -> None:
        """Extends the run by the record after its end."""
        _, durable = self._behind.pop(self.end.sn + 1)
        self.end = Mark(0, durable.epoch, durable.sn, durable.crc)

    def forget_up_to(self, sn: int) -> None:
        self._behind = {slot: each for slot, each in self._behind.items() if slot > sn}


class SlotLog:
    """The journal on disk and, in memory, where each slot's latest record lies in it. `GroupLog` of nodes/slots.py."""

    def __init__(self, world: World, journal: Journal):
        self._world = world
        self._journal = journal
        self.base = NOTHING
        self._positions = array("Q")
        """Journal position of each slot's record, from the slot after `base`; 0 for an empty slot."""
        self._crcs = array("Q")
        self._epochs = array("Q")
        self._rollbacks: set[int] = set()
        """Slots whose record is a rollback."""
        self._run = LogRun()
        self.pointer = Pointer(0, 0)
        """Newest success pointer in the journal."""
        self._durable_pointer = self.pointer
        self.dirty = False

    # --- opening ---------------------------------------------------------------------------------------------------

    def load(self) -> None:
        """Reads the journal once. Raises CorruptJournal."""
        for position, data in self._journal.entries(self._journal.first_sn, self._journal.last_sn):
            [ballot] = NUMBER.unpack_from(data)
            try:
                if ballot:
                    record = data[NUMBER.size :]
                    self._point(decode_record(record), crc32c(record), position, len(data))
                else:
                    [slot] = NUMBER.unpack_from(data, NUMBER.size)
                    at = data[2 * NUMBER.size :]
                    self.pointer = Pointer(slot, position, _at_pointer.decode(at) if at else NOWHERE)
            except (msgspec.DecodeError, msgspec.ValidationError) as error:
                raise CorruptJournal("journal", 0, position, f"holds no record of a slot: {error}") from None
        self._durable_pointer = self.pointer

    @property
    def pruned(self) -> bool:
        """Whether the journal begins after the first slot, so that the server needs an image."""
        return self._journal.first_sn > 1

    def leads_from(self, image: Mark) -> bool:
        """Whether no slot is missing between an image and the success pointer. Then none is missing after the pointer either.

        Pruning drops slots only up to a pointer that stays. Called before `open_behind`.
        """
        mark = image
        while mark.sn < self.pointer.slot:
            following = self.mark_at(mark.sn + 1)
            if following is None or self._run.before(following.sn) != mark:
                return False
            mark = following
        decided = self.pointer.at.mark
        return mark.sn > self.pointer.slot or decided is None or mark == decided

    def open_behind(self, image: Mark) -> None:
        """The namespace begins with this image. Records that a restarted server finds after it count as reported.

        Slots below the image that lead to it can still be sent to others; other records there were never decided.
        """
        base = image
        while base.sn and self.mark_at(base.sn) == base:
            base = self._run.before(base.sn)
        if base.sn:
            self._forget_up_to(base)
        self._run.end = base
        while self._run.following() is not None:
            self._run.go_on()

    def begin_behind(self, image: Mark) -> None:
        """An image replaces every slot up to it while the server runs. Accepted slots above it stay."""
        held = self.mark_at(image.sn)
        if held != image and self.last.sn > image.sn:
            self._run.end = image
        self._forget_up_to(image)
        if self.last.sn < image.sn:
            self._run.end = image
        self.dirty = True

    def _forget_up_to(self, base: Mark) -> None:
        gone = base.sn - self.base.sn
        for column in (self._positions, self._crcs, self._epochs):
            del column[:gone]
        self._run.forget_up_to(base.sn)
        self.base = base

    # --- reading ---------------------------------------------------------------------------------------------------

    @property
    def last(self) -> Mark:
        """The mark of the last reported record."""
        return self._run.end

    @property
    def end(self) -> int:
        """The last slot that has, or had, a record."""
        return self.base.sn + len(self._positions)

    @property
    def size(self) -> int:
        return self._journal.size

    def _position(self, slot: int) -> int:
        index = slot - self.base.sn - 1
        return self._positions[index] if 0 <= index < len(self._positions) else 0

    def bytes_behind(self, sn: int) -> int:
        """Size of the entries after this slot's record; of the whole journal when the record is pruned."""
        return self._journal.bytes_behind(self._position(sn) or self._journal.first_sn - 1)

    def mark_at(self, sn: int) -> Mark | None:
        """The mark of the record in a slot; None when it is empty."""
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

    def incarnation_starts(self) -> list[int]:
        return sorted(slot for slot in self._rollbacks if slot > self.base.sn)

    def stored(self, slot: int) -> tuple[int, bytes] | None:
        """(ballot, bytes) of the record in a slot. Raises OSError."""
        position = self._position(slot)
        for _, data in self._journal.entries(position, position) if position else ():
            return NUMBER.unpack_from(data)[0], data[NUMBER.size :]
        return None

    def accepted(self) -> Iterator[tuple[int, LogRecord]]:
        """(ballot, record) of every slot after `base`, in order of arrival. Raises OSError."""
        for position, data in self._journal.entries(self._journal.first_sn, self._journal.last_sn):
            [ballot] = NUMBER.unpack_from(data)
            record = decode_record(data[NUMBER.size :]) if ballot else None
            if record is not None and self._position(record.sn) == position:
                yield ballot, record

    def encoded(self, from_sn: int, to_sn: int, most_bytes: int | None = None) -> list[bytes]:
        """Encoded records of these slots, from `from_sn` up to the first gap or the size limit. Raises OSError."""
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

    def put(self, ballot: int, record: LogRecord, data: bytes) -> None:
        """Appends the record of a slot after `base` under this ballot; durable after `sync`. Raises OSError."""
        crc = crc32c(data)
        mine = self.mark_at(record.sn)
        position = self._journal.last_sn + 1
        self._journal.append(position, ballot, NUMBER.pack(ballot) + data)
        self.dirty = True
        if mine is not None and mine.crc == crc:
            self._positions[record.sn - self.base.sn - 1] = position
            return
        if record.sn <= self.last.sn:
            before = self.mark_at(record.sn - 1)
            assert before is not None
            self._run.end = before
            self._world.trace.emit(Cut(before.sn, f"ballot {ballot} has another record for slot {record.sn}"))
        self._point(record, crc, position, len(data))

    def _point(self, record: LogRecord, crc: int, position: int, size: int) -> None:
        lacking = record.sn - self.end
        for column in (self._positions, self._crcs, self._epochs) if lacking > 0 else ():
            column.extend([0] * lacking)
        index = record.sn - self.base.sn - 1
        self._positions[index], self._crcs[index], self._epochs[index] = position, crc, record.epoch
        self._rollbacks.discard(record.sn)
        if rollback_in(record.records) is not None:
            self._rollbacks.add(record.sn)
        durable = Durable(record.sn, record.epoch, record.groupid, crc, len(record.records), size)
        self._run.put(record.previous, durable)

    def mark_success(self, slot: int, view: list[str]) -> None:
        """Appends a success pointer at this slot, together with the next records. `view` is as of the slot; empty when unknown."""
        if slot > self.pointer.slot and (self.dirty or slot - self.pointer.slot >= MARK_EVERY):
            position = self._journal.last_sn + 1
            at = AtPointer(view, self.mark_at(slot))
            self._journal.append(position, 0, NUMBER.pack(0) + NUMBER.pack(slot) + _encoder.encode(at))
            self.pointer = Pointer(slot, position, at)
            self.dirty = True

    async def sync(self) -> None:
        """Records put before the call are durable and reported when this returns. Raises OSError."""
        self.dirty = False
        upto, pointer = self._journal.last_sn, self.pointer
        await self._journal.sync()
        self._durable_pointer = pointer
        while (durable := self._run.following()) is not None and self._position(durable.sn) <= upto:
            self._run.go_on()
            self._world.trace.emit(durable)

    # --- pruning ---------------------------------------------------------------------------------------------------

    def prune(self, sn: int) -> bool:
        """Prunes slots up to sn in whole segments, which hold neither a later slot's record nor the durable success pointer."""
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
