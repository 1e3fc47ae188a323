"""What the workload's files hold: records that say of themselves what they are, so that a reader needs no copy to compare with.

A record is its size (u32), its number (u32), both little-endian, and so many octets of SHAKE-256 over the file's name and the number. One put or
append writes one record. Numbers rise; one that was set aside by a recovery is missing.
"""

from __future__ import annotations

import hashlib
from struct import Struct

import msgspec

HEAD = Struct("<II")
SIZE_MAX = 1 << 24


def record(name: str, number: int, size: int) -> bytes:
    """`size` octets behind the head."""
    return HEAD.pack(size, number) + body(name, number, size)


def body(name: str, number: int, size: int) -> bytes:
    return hashlib.shake_256(f"{name}/{number}".encode()).digest(size)


class Found(msgspec.Struct, frozen=True):
    """What a file's octets turned out to be."""

    numbers: list[int]
    """Of the records that are whole, in order."""
    wrong_at: int = -1
    """Where the first record begins that is not what was written; -1 when there is none."""


def read_back(name: str, octets: bytes) -> Found:
    """A record that breaks off is no fault when what there is of it is right: its writer may be under way."""
    numbers: list[int] = []
    offset = 0
    while len(octets) - offset >= HEAD.size:
        size, number = HEAD.unpack_from(octets, offset)
        lying = octets[offset + HEAD.size : offset + HEAD.size + size]
        if (
            size > SIZE_MAX
            or number <= (numbers[-1] if numbers else 0)
            or lying != body(name, number, len(lying))
        ):
            return Found(numbers, offset)
        if len(lying) < size:
            break
        numbers.append(number)
        offset += HEAD.size + size
    return Found(numbers)
