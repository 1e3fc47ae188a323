"""A small file that is always written as a whole: magic (8 bytes), format number (u16, format_number.py), CRC-32C (u32) of the rest, a
MessagePack value.

Numbers are little-endian.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, TypeVar

import msgspec
from crc32c import crc32c

from nodes.errors import Damaged
from nodes.format_number import number_of, of_other_version, stored

HEAD = Struct("<8sHI")
T = TypeVar("T")


class SealBroken(Damaged):
    """The file must not be trusted; one line gives the reason."""


class UnknownSeal(SealBroken):
    """A file of another version, which this version must not alter."""


def seal(magic: bytes, number: int, content: Any) -> bytes:
    payload = msgspec.msgpack.encode(content)
    return HEAD.pack(magic, stored(number), crc32c(payload)) + payload


def unseal(path: str, magic: bytes, number: int, data: bytes, kind: type[T]) -> T:
    """Raises SealBroken, and UnknownSeal with both numbers when the format is unknown."""
    if len(data) < HEAD.size:
        raise SealBroken(f"the file {path} has {len(data)} bytes; its head alone has {HEAD.size}")
    found, found_number, crc = HEAD.unpack_from(data)
    format_number = number_of(found_number)
    if format_number is None:
        raise SealBroken(f"the file {path} has {found_number:#06x} where its format number should be")
    if found != magic:
        raise SealBroken(f"the file {path} begins with {found!r}, not with {magic!r}")
    if format_number != number:
        raise UnknownSeal(f"the file {path} {of_other_version(format_number, number)}")
    payload = data[HEAD.size :]
    if crc32c(payload) != crc:
        raise SealBroken(f"the file {path} has a wrong checksum")
    try:
        return msgspec.msgpack.decode(payload, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SealBroken(f"the file {path} does not say what it should: {error}") from None
