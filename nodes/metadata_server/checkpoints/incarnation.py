"""Rollback to a checkpoint on one server's disk (CFS §4.3; safety rule 14): image and journal up to the barrier and no further.

Later groups are moved under `aside/`, never deleted. The file `incarnation` is written last and records how far this server has rolled back. A
rollback that a crash interrupts before that is repeated. It is a sealed file (nodes/storage/sealed_file.py).
"""

from __future__ import annotations

import msgspec

from nodes.replicas.log import NOTHING
from nodes.storage.sealed_file import seal, unseal
from nodes.wire.messages import Mark
from nodes.world import Disk

FILE = "incarnation"
MAGIC = b"CLVRINCN"
FORMAT = 1


class JournalOrigin(msgspec.Struct, array_like=True, frozen=True):
    """The point where this server's journal branched off."""

    incarnation: int = 0
    checkpoint: str = ""
    barrier: Mark = NOTHING
    """The last group of earlier incarnations that counts."""
    groups: int = 0
    operations: int = 0
    """Number of operations that were quarantined on this server."""


def encode(origin: JournalOrigin) -> bytes:
    return seal(MAGIC, FORMAT, origin)


def decode(data: bytes) -> JournalOrigin:
    """Raises SealBroken; both numbers are named when the format is unknown."""
    return unseal(FILE, MAGIC, FORMAT, data, JournalOrigin)


def stored_origin(disk: Disk) -> JournalOrigin:
    """Raises SealBroken, OSError."""
    try:
        return decode(disk.read(FILE))
    except FileNotFoundError:
        return JournalOrigin()


async def store_origin(disk: Disk, origin: JournalOrigin) -> None:
    """Durable when it returns. Raises OSError."""
    await disk.replace(FILE, encode(origin))


def aside(incarnation: int) -> str:
    """The quarantine directory of the rollback that began this incarnation."""
    return f"aside/{incarnation:06d}"
