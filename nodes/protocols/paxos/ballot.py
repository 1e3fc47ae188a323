"""The promised ballot on a member's disk: magic, format number (u16), ballot (u64), CRC-32C (u32) of the bytes before; little-endian."""

from __future__ import annotations

from struct import Struct

from crc32c import crc32c

from nodes.format_number import of_other_version
from nodes.storage.sealed_file import SealBroken, UnknownSeal
from nodes.world import Disk

MAGIC = b"CLVRBLLT"
FORMAT = 1
BODY = Struct("<8sHQ")
BALLOT_FILE = "ballot"
BALLOT_MAX = (1 << 32) - 1


def pack_ballot(ballot: int) -> bytes:
    body = BODY.pack(MAGIC, FORMAT, ballot)
    return body + crc32c(body).to_bytes(4, "little")


def unpack_ballot(data: bytes) -> int:
    """Raises SealBroken; UnknownSeal for a format of another version."""
    body = data[: BODY.size]
    if not data.startswith(MAGIC) or len(data) != BODY.size + 4:
        size = BODY.size + 4
        raise SealBroken(
            f"{BALLOT_FILE} is no promised ballot: it has {len(data)} bytes, not {size} that begin with {MAGIC!r}"
        )
    _, number, ballot = BODY.unpack(body)
    if number != FORMAT:
        raise UnknownSeal(f"{BALLOT_FILE} {of_other_version(number, FORMAT)}")
    if crc32c(body) != int.from_bytes(data[BODY.size :], "little"):
        raise SealBroken(f"{BALLOT_FILE} is corrupt: its checksum does not fit")
    return int(ballot)


def stored_ballot(disk: Disk) -> int:
    """The promised ballot on this disk; 0 when the member never promised one. Raises SealBroken, OSError."""
    try:
        return unpack_ballot(disk.read(BALLOT_FILE))
    except FileNotFoundError:
        return 0
