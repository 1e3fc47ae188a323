"""The checksums of a block's bytes: a CRC-32C over each chunk of 512 bytes; the last chunk may be shorter."""

from __future__ import annotations

from crc32c import crc32c

from nodes.metadata.operations import CHUNK_BYTES

SUM_BYTES = 4


def sums_of(data: bytes) -> bytes:
    """The checksums of the chunks, little-endian, concatenated."""
    view = memoryview(data)
    return b"".join(
        [
            crc32c(view[start : start + CHUNK_BYTES]).to_bytes(SUM_BYTES, "little")
            for start in range(0, len(data), CHUNK_BYTES)
        ]
    )


def first_bad(data: bytes, sums: bytes) -> int:
    """Offset of the first chunk whose checksum is wrong; -1 when all are right."""
    right = sums_of(data)
    if right == sums:
        return -1
    for start in range(0, len(right), SUM_BYTES):
        if right[start : start + SUM_BYTES] != sums[start : start + SUM_BYTES]:
            return start // SUM_BYTES * CHUNK_BYTES
    return len(data)
