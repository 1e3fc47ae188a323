"""How the replica of a block lies on a disk.

`<number>.blk`: magic, format number (u16), block (u64), stamp (u32), CRC-32C (u32) of these; then the chunks, each its CRC-32C (u32) and up to
512 octets. `<number>.rep`, which is replaced as a whole, says what has become of it since: magic, format number, block, stamp, length (i64, -1
while it is being written), CRC-32C. A replica without one is being written under the stamp of its head. All numbers are little-endian.
"""

from __future__ import annotations

import re
from struct import Struct

from crc32c import crc32c

from nodes.errors import Damaged
from nodes.format_number import number_of, stored
from nodes.metadata.operations import CHUNK_OCTETS
from nodes.storage.chunks import SUM_OCTETS

HEAD_MAGIC, STATE_MAGIC = b"CLVRBLCK", b"CLVRREPL"
FORMAT = 1
HEAD = Struct("<8sHQI")
STATE = Struct("<8sHQIq")
CRC = Struct("<I")
HEAD_OCTETS = HEAD.size + CRC.size
STRIDE = SUM_OCTETS + CHUNK_OCTETS
NAME = re.compile(r"^([0-9a-f]{16})\.(blk|rep)$")
WRITING = -1


class BlockDamaged(Damaged):
    """A replica that must not be used; one line says where and why."""


class UnknownFormat(Damaged):
    """A replica that another version wrote: it is left as it is, and so is the whole directory."""


def head(block: int, stamp: int) -> bytes:
    return _sealed(HEAD.pack(HEAD_MAGIC, stored(FORMAT), block, stamp))


def state(block: int, stamp: int, length: int) -> bytes:
    return _sealed(STATE.pack(STATE_MAGIC, stored(FORMAT), block, stamp, length))


def _sealed(octets: bytes) -> bytes:
    return octets + CRC.pack(crc32c(octets))


def read_head(path: str, octets: bytes, block: int) -> int:
    """The stamp. Raises BlockDamaged, UnknownFormat."""
    return int(_opened(path, octets, HEAD, HEAD_MAGIC, block)[3])


def read_state(path: str, octets: bytes, block: int) -> tuple[int, int]:
    """Stamp and length. Raises BlockDamaged, UnknownFormat."""
    _, _, _, stamp, length = _opened(path, octets, STATE, STATE_MAGIC, block)
    return stamp, length


def _opened(path: str, octets: bytes, layout: Struct, magic: bytes, block: int) -> tuple[int, ...]:
    if octets[:8] == magic and len(octets) >= 10:
        number = number_of(int.from_bytes(octets[8:10], "little"))
        if number not in (FORMAT, None):
            raise UnknownFormat(f"{path} has format {number}; this version reads format {FORMAT}")
    body, seal = octets[: layout.size], octets[layout.size : layout.size + CRC.size]
    if len(seal) < CRC.size or CRC.unpack(seal)[0] != crc32c(body) or not body.startswith(magic):
        raise BlockDamaged(f"{path} has a damaged head")
    fields = layout.unpack(body)
    if fields[2] != block:
        raise BlockDamaged(f"{path} says that it is block {fields[2]:016x}")
    return fields


def size_of(length: int) -> int:
    """Octets of the file whose replica has so many."""
    chunks, rest = divmod(length, CHUNK_OCTETS)
    return HEAD_OCTETS + chunks * STRIDE + (SUM_OCTETS + rest if rest else 0)


def length_of(size: int) -> int:
    """Octets of the replica in a file of this size, a torn last chunk counted as far as it is there."""
    chunks, rest = divmod(max(0, size - HEAD_OCTETS), STRIDE)
    return chunks * CHUNK_OCTETS + max(0, rest - SUM_OCTETS)


def woven(octets: bytes, sums: bytes) -> bytes:
    """Chunks as they lie in the file."""
    parts: list[bytes] = []
    for place, start in enumerate(range(0, len(octets), CHUNK_OCTETS)):
        parts.append(sums[place * SUM_OCTETS : (place + 1) * SUM_OCTETS])
        parts.append(octets[start : start + CHUNK_OCTETS])
    return b"".join(parts)


def unwoven(lying: bytes) -> tuple[bytes, bytes]:
    """The octets of some whole chunks and their checksums."""
    starts = range(0, len(lying), STRIDE)
    octets = b"".join([lying[start + SUM_OCTETS : start + STRIDE] for start in starts])
    sums = b"".join([lying[start : start + SUM_OCTETS] for start in starts])
    return octets, sums
