"""Content of a trial's files: records that name their writer, so that a reader can check them.

A record is the magic, the length of its tag (u8) and of its body (u32, little-endian), the tag, and a body of SHAKE-256 over the tag. A
writer that dies leaves the beginning of a record; the next one begins directly behind it.
"""

from __future__ import annotations

import hashlib
from struct import Struct
from typing import NamedTuple

import msgspec

MAGIC = b"\xc1RECORD\xc1"
HEAD = Struct("<8sBI")
SIZE_MAX = 1 << 24


def record(tag: str, size: int) -> bytes:
    """The bytes of a record with a body of `size` bytes."""
    name = tag.encode()
    return HEAD.pack(MAGIC, len(name), size) + name + hashlib.shake_256(name).digest(size)


class ContentRecord(NamedTuple):
    """The place of an acknowledged record."""

    inode: int
    append: int
    """Number of the call that held the file while it was written."""


class TrialContent(msgspec.Struct, frozen=True):
    """The result of parsing a file's bytes."""

    tags: list[str]
    """Tags of the whole records, in order."""
    wrong_at: int = -1
    """Offset of bytes that were never written; -1 for none."""


def read_back(content: bytes) -> TrialContent:
    """Parses one record after the other. An incomplete record is right if another record, or the end of the file, follows."""
    tags: list[str] = []
    at = 0
    while at < len(content):
        following = content.find(MAGIC, at + 1)
        part = content[at : following if following >= 0 else len(content)]
        tag = _tag(part)
        expected = record(*tag) if tag is not None else b""
        if tag is not None and part.startswith(expected):
            tags.append(tag[0])
            at += len(expected)
        elif expected.startswith(part) if tag is not None else _breaks_off(part):
            at += len(part)
        else:
            return TrialContent(tags, at)
    return TrialContent(tags)


def _tag(part: bytes) -> tuple[str, int] | None:
    """Tag and size of the record that begins here; None when they are incomplete or invalid."""
    if len(part) < HEAD.size:
        return None
    magic, length, size = HEAD.unpack_from(part)
    name = part[HEAD.size : HEAD.size + length]
    if magic != MAGIC or size > SIZE_MAX or len(name) < length or not name.isascii():
        return None
    return name.decode("ascii"), size


def _breaks_off(part: bytes) -> bool:
    """Whether these bytes are the beginning of a record with an incomplete tag."""
    whole = HEAD.size + part[len(MAGIC)] if len(part) > len(MAGIC) else HEAD.size
    return MAGIC.startswith(part[: len(MAGIC)]) and len(part) < whole and part[HEAD.size :].isascii()
