"""Content of the workload's files: records that identify themselves, so that a reader needs no copy to compare with.

A record is its size (u32), its number (u32), both little-endian, and so many bytes of SHAKE-256 over the file's name and the number. One put
or append writes one record. Numbers rise; one that a recovery rolled back is missing.
"""

from __future__ import annotations

import hashlib
from struct import Struct

import msgspec

HEAD = Struct("<II")
SIZE_MAX = 1 << 24


def record(name: str, number: int, size: int) -> bytes:
    """A record of `size` bytes behind the head."""
    return HEAD.pack(size, number) + body(name, number, size)


def body(name: str, number: int, size: int) -> bytes:
    return hashlib.shake_256(f"{name}/{number}".encode()).digest(size)


class FileContent(msgspec.Struct, frozen=True):
    """The result of parsing a file's bytes."""

    numbers: list[int]
    """Numbers of the whole records, in order."""
    wrong_at: int = -1
    """Offset of the first record with wrong content; -1 when there is none."""


def read_back(name: str, data: bytes) -> FileContent:
    """Parses a file. An incomplete record is no fault when its bytes are right: its writer may still be at work."""
    numbers: list[int] = []
    offset = 0
    while len(data) - offset >= HEAD.size:
        size, number = HEAD.unpack_from(data, offset)
        lying = data[offset + HEAD.size : offset + HEAD.size + size]
        if (
            size > SIZE_MAX
            or number <= (numbers[-1] if numbers else 0)
            or lying != body(name, number, len(lying))
        ):
            return FileContent(numbers, offset)
        if len(lying) < size:
            break
        numbers.append(number)
        offset += HEAD.size + size
    return FileContent(numbers)
