"""Packets of 64 KiB with a CRC-32C for each 512 octets (VSSP §IV.B)."""

from __future__ import annotations

from crc32c import crc32c

PACKET_OCTETS = 64 << 10
CHUNK_OCTETS = 512


def sums(octets: bytes) -> bytes:
    """The CRC-32C of each chunk, 4 octets little-endian; the last chunk may be short."""
    view = memoryview(octets)
    return b"".join(
        [
            crc32c(view[start : start + CHUNK_OCTETS]).to_bytes(4, "little")
            for start in range(0, len(octets), CHUNK_OCTETS)
        ]
    )


def bad_chunk(octets: bytes, told: bytes) -> int | None:
    """Offset of the first chunk that is not what its checksum says; None when all are. Missing checksums are wrong ones."""
    right = sums(octets)
    if right == told:
        return None
    for start in range(0, max(len(right), len(told)), 4):
        if right[start : start + 4] != told[start : start + 4]:
            return start // 4 * CHUNK_OCTETS
    raise AssertionError("checksums that differ nowhere")
