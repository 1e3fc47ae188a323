"""The record format of a journal segment, and the end of a segment's valid part.

Segment: magic, format number (u16, format_number.py), first sn (u64). Record: payload length (u32), CRC-32C (u32) over the rest, sn (u64),
epoch (u32), payload. All numbers are little-endian.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from struct import Struct

from crc32c import crc32c

from nodes.errors import Damaged
from nodes.format_number import number_of, of_other_version, stored

MAGIC = b"CLVRJRNL"
FORMAT = 1
HEADER = Struct("<8sHQ")
FRAME = Struct("<II")
HEAD = Struct("<QI")
PAYLOAD_MAX = 16 << 20
OVERHEAD = FRAME.size + HEAD.size
SN_UPPER = FRAME.size + 2
"""Offset of the upper six bytes of a record's sn."""
NOT_ZERO = re.compile(rb"[^\0]")


class CorruptJournal(Damaged):
    """A journal that must not be used or altered before a person examines it; one line gives the place and the reason."""

    def __init__(self, file: str, offset: int, sn: int, reason: str):
        self.file = file
        self.offset = offset
        self.sn = sn
        self.reason = reason
        super().__init__(f"{file} is corrupt at offset {offset} (sn {sn}): {reason}")


class UnknownJournal(CorruptJournal):
    """A journal of another version, which this version must not alter."""


class RecordPlace:
    """The place of a record in its segment."""

    __slots__ = ("end", "epoch", "sn", "start")

    def __init__(self, sn: int, epoch: int, start: int, end: int):
        self.sn = sn
        self.epoch = epoch
        self.start = start
        self.end = end


def header(first_sn: int) -> bytes:
    return HEADER.pack(MAGIC, stored(FORMAT), first_sn)


def pack(sn: int, epoch: int, payload: bytes) -> bytes:
    body = HEAD.pack(sn, epoch) + payload
    return FRAME.pack(len(payload), crc32c(body)) + body


def check_header(file: str, data: bytes, first_sn: int) -> None:
    """Raises CorruptJournal; both numbers are named when the format is unknown."""
    magic, found, first = HEADER.unpack_from(data)
    number = number_of(found)
    if magic != MAGIC:
        raise CorruptJournal(file, 0, first_sn, f"begins with {magic!r}, not with {MAGIC!r}")
    if number is None:
        raise CorruptJournal(file, len(MAGIC), first_sn, f"{found:#06x} is no format number")
    if number != FORMAT:
        raise UnknownJournal(file, len(MAGIC), first_sn, of_other_version(number, FORMAT))
    if first != first_sn:
        raise CorruptJournal(file, len(MAGIC) + 2, first_sn, f"says that it begins with sn {first}")


def has_header(data: bytes) -> bool:
    """Whether a segment's first sync may have returned. Before that, a power loss leaves a shorter file, or zeros in place of the header."""
    return len(data) >= HEADER.size and any(data[: HEADER.size])


def record_at(data: bytes, offset: int) -> RecordPlace | None:
    """The whole and valid record at this offset; None when there is none."""
    if offset + OVERHEAD > len(data):
        return None
    length, crc = FRAME.unpack_from(data, offset)
    end = offset + OVERHEAD + length
    if length > PAYLOAD_MAX or end > len(data):
        return None
    if crc32c(data[offset + FRAME.size : end]) != crc:
        return None
    sn, epoch = HEAD.unpack_from(data, offset + FRAME.size)
    return RecordPlace(sn, epoch, offset, end)


def scan(file: str, data: bytes, first_sn: int, last_segment: bool) -> Iterator[RecordPlace]:
    """The records of a segment, in order, up to a torn tail, which only the last segment may have.

    Raises CorruptJournal when a bad record is no tail: a valid record or another segment follows it.
    """
    offset, sn = HEADER.size, first_sn
    while offset < len(data):
        entry = record_at(data, offset)
        if entry is None or entry.sn != sn:
            reason = "the record is damaged" if entry is None else f"the record says sn {entry.sn}"
            if not last_segment:
                raise CorruptJournal(file, offset, sn, f"{reason} and another segment follows")
            if entry is not None or follows(data, offset + 1, sn):
                raise CorruptJournal(
                    file, offset, sn, f"{reason} and valid records follow" if entry is None else reason
                )
            return
        yield entry
        offset, sn = entry.end, sn + 1


def never_synced(data: bytes, offset: int, sn: int) -> bool:
    """Whether the damaged rest of the last segment is the beginning of record `sn`, whose sync never returned.

    A sync that returned leaves whole records. Rot alters bytes but removes none, so that a rotten record has the length in its head. An append that
    power loss interrupted is shorter, or consists of zeros: its length was written, but none of its bytes. An implausible head decides nothing.
    """
    if len(data) - offset < OVERHEAD or not data[offset:].strip(b"\0"):
        return True
    length, crc = FRAME.unpack_from(data, offset)
    found, _ = HEAD.unpack_from(data, offset + FRAME.size)
    if found != sn or length > PAYLOAD_MAX or offset + OVERHEAD + length <= len(data):
        return False
    return not any(_fits(data, offset, length ^ (1 << bit), crc) for bit in range(32))


def _fits(data: bytes, offset: int, length: int, crc: int) -> bool:
    """Whether the record would be valid with this length: then only its length has rotted."""
    end = offset + OVERHEAD + length
    return end <= len(data) and crc32c(data[offset + FRAME.size : end]) == crc


def follows(data: bytes, offset: int, sn: int) -> bool:
    """Whether any valid record of a later sn begins behind a damaged one.

    Candidates are found by the upper six bytes of their sn, which neighbours share; runs of zeros are skipped.
    """
    for upper in {sn >> 16: None, (sn >> 16) + 1: None}:
        needle = upper.to_bytes(6, "little")
        found = data.find(needle, offset + SN_UPPER)
        while found >= 0:
            start = found - SN_UPPER
            entry = record_at(data, start) if data[start:found].strip(b"\0") else None
            if entry is not None and entry.sn > sn:
                return True
            found = data.find(needle, _after_zeros(data, start, found) if entry is None else found + 1)
    return False


def _after_zeros(data: bytes, start: int, found: int) -> int:
    """Where the search continues: behind a run of zeros, if one begins here."""
    if data[start : found + 6].strip(b"\0"):
        return found + 1
    behind = NOT_ZERO.search(data, found)
    return len(data) if behind is None else max(found + 1, behind.start() - OVERHEAD)
