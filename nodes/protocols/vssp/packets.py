"""Packets of 64 KiB with a CRC-32C for each 512 bytes (VSSP §IV.B)."""

from __future__ import annotations

from crc32c import crc32c

PACKET_BYTES = 64 << 10
CHUNK_BYTES = 512


def sums(data: bytes) -> bytes:
    """The CRC-32C of each chunk, 4 bytes little-endian; the last chunk may be short."""
    view = memoryview(data)
    return b"".join(
        [
            crc32c(view[start : start + CHUNK_BYTES]).to_bytes(4, "little")
            for start in range(0, len(data), CHUNK_BYTES)
        ]
    )


def bad_chunk(data: bytes, reported: bytes) -> int | None:
    """Offset of the first chunk whose checksum is wrong; None when all are right. Missing checksums count as wrong."""
    right = sums(data)
    if right == reported:
        return None
    for start in range(0, max(len(right), len(reported)), 4):
        if right[start : start + 4] != reported[start : start + 4]:
            return start // 4 * CHUNK_BYTES
    raise AssertionError("checksums that differ nowhere")
