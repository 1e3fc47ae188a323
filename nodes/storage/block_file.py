"""The files of a block's replica.

`<number>.blk`: magic, format number (u16), block (u64), stamp (u32), CRC-32C (u32) of these; then the chunks, each its CRC-32C (u32) and up to 512
bytes. `<number>.rep` is always replaced as a whole and records the present state: magic, format number, block, stamp, length (i64, -1 while the
replica is being written), CRC-32C. A replica without this file, or with one of an earlier stamp, is being written under the stamp of its head.
`<number>.cpy` is a copy that is not whole yet, of the same form as `.blk`, and no replica. All numbers are little-endian.
"""

from __future__ import annotations

import re
from struct import Struct

from crc32c import crc32c

from nodes.errors import Damaged
from nodes.format_number import number_of, of_other_version, stored
from nodes.metadata.operations import CHUNK_BYTES
from nodes.storage.chunks import SUM_BYTES

HEAD_MAGIC, STATE_MAGIC = b"CLVRBLCK", b"CLVRREPL"
FORMAT = 1
HEAD = Struct("<8sHQI")
STATE = Struct("<8sHQIq")
CRC = Struct("<I")
HEAD_BYTES = HEAD.size + CRC.size
STRIDE = SUM_BYTES + CHUNK_BYTES
NAME = re.compile(r"^([0-9a-f]{16})\.(blk|rep|cpy)$")
WRITING = -1


class BlockDamaged(Damaged):
    """A replica that must not be used; one line gives the place and the reason."""


class UnknownBlockFormat(Damaged):
    """A replica of another version: it stays unchanged, and so does the whole directory."""


def head(block: int, stamp: int) -> bytes:
    return _sealed(HEAD.pack(HEAD_MAGIC, stored(FORMAT), block, stamp))


def state(block: int, stamp: int, length: int) -> bytes:
    return _sealed(STATE.pack(STATE_MAGIC, stored(FORMAT), block, stamp, length))


def _sealed(data: bytes) -> bytes:
    return data + CRC.pack(crc32c(data))


def read_head(path: str, data: bytes, block: int) -> int:
    """The stamp in the head. Raises BlockDamaged, UnknownBlockFormat."""
    return int(_opened(path, data, HEAD, HEAD_MAGIC, block)[3])


def read_state(path: str, data: bytes, block: int) -> tuple[int, int]:
    """Stamp and length in the state file. Raises BlockDamaged, UnknownBlockFormat."""
    _, _, _, stamp, length = _opened(path, data, STATE, STATE_MAGIC, block)
    return stamp, length


def _opened(path: str, data: bytes, layout: Struct, magic: bytes, block: int) -> tuple[int, ...]:
    if data[:8] == magic and len(data) >= 10:
        number = number_of(int.from_bytes(data[8:10], "little"))
        if number not in (FORMAT, None):
            raise UnknownBlockFormat(f"{path} {of_other_version(number, FORMAT)}")
    body, seal = data[: layout.size], data[layout.size : layout.size + CRC.size]
    if len(seal) < CRC.size or CRC.unpack(seal)[0] != crc32c(body) or not body.startswith(magic):
        raise BlockDamaged(f"{path} has a damaged head")
    fields = layout.unpack(body)
    if fields[2] != block:
        raise BlockDamaged(f"{path} says that it is block {fields[2]:016x}")
    return fields


def size_of(length: int) -> int:
    """Size in bytes of the file of a replica of this length."""
    chunks, rest = divmod(length, CHUNK_BYTES)
    return HEAD_BYTES + chunks * STRIDE + (SUM_BYTES + rest if rest else 0)


def length_of(size: int) -> int:
    """Length in bytes of the replica in a file of this size; a torn last chunk counts with its present bytes."""
    chunks, rest = divmod(max(0, size - HEAD_BYTES), STRIDE)
    return chunks * CHUNK_BYTES + max(0, rest - SUM_BYTES)


def woven(data: bytes, sums: bytes) -> bytes:
    """Chunks interleaved with their checksums, as in the file."""
    parts: list[bytes] = []
    for place, start in enumerate(range(0, len(data), CHUNK_BYTES)):
        parts.append(sums[place * SUM_BYTES : (place + 1) * SUM_BYTES])
        parts.append(data[start : start + CHUNK_BYTES])
    return b"".join(parts)


def unwoven(lying: bytes) -> tuple[bytes, bytes]:
    """The bytes of some whole chunks, and their checksums."""
    starts = range(0, len(lying), STRIDE)
    data = b"".join([lying[start + SUM_BYTES : start + STRIDE] for start in starts])
    sums = b"".join([lying[start : start + SUM_BYTES] for start in starts])
    return data, sums
