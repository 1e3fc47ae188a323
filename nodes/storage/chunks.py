"""The checksums of a block's octets: a CRC-32C over every 512 of them, the last chunk may be shorter."""

from __future__ import annotations

from crc32c import crc32c

from nodes.metadata.operations import CHUNK_OCTETS

SUM_OCTETS = 4


def sums_of(octets: bytes) -> bytes:
    """The checksums of the chunks, little-endian, one behind the other."""
    view = memoryview(octets)
    return b"".join(
        [
            crc32c(view[start : start + CHUNK_OCTETS]).to_bytes(SUM_OCTETS, "little")
            for start in range(0, len(octets), CHUNK_OCTETS)
        ]
    )


def first_bad(octets: bytes, sums: bytes) -> int:
    """Where the first chunk begins that does not have its checksum; -1 when all have."""
    right = sums_of(octets)
    if right == sums:
        return -1
    for start in range(0, len(right), SUM_OCTETS):
        if right[start : start + SUM_OCTETS] != sums[start : start + SUM_OCTETS]:
            return start // SUM_OCTETS * CHUNK_OCTETS
    return len(octets)
