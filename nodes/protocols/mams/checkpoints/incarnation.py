"""Going back to a checkpoint on one server's disk (CFS §4.3; safety rule 14): image and journal up to the barrier and no further.

What came after the barrier is moved under `aside/`, never deleted. The file `incarnation`, written last, says how far this server has gone back;
whatever a crash leaves undone before it is done again. File: magic, format number (u16), CRC-32C (u32) of what follows, a MessagePack array; numbers
are little-endian.
"""

from __future__ import annotations

from struct import Struct

import msgspec
from crc32c import crc32c

from nodes.errors import Damaged
from nodes.metadata.records import call_of
from nodes.replicas.log import NOTHING, ReplicaLog, decode_group
from nodes.storage.journal_file import Journal
from nodes.wire.messages import Mark
from nodes.world import Disk

FILE = "incarnation"
MAGIC = b"CLVRINCN"
FORMAT = 1
HEAD = Struct("<8sHI")
SYNC_EVERY = 256
"""Groups that are written at once."""


class Origin(msgspec.Struct, array_like=True, frozen=True):
    """Where this server's journal branched off."""

    incarnation: int = 0
    checkpoint: str = ""
    barrier: Mark = NOTHING
    """The last group that counts of earlier incarnations."""
    groups: int = 0
    operations: int = 0
    """What was set aside on this server."""

    def accepts(self, mark: Mark) -> bool:
        """Whether a group, or an image, is not one of those that were set aside."""
        return mark.incarnation >= self.incarnation or mark.sn <= self.barrier.sn


class IncarnationDamaged(Damaged):
    """The file must not be believed; one line says why."""


def encode(origin: Origin) -> bytes:
    payload = msgspec.msgpack.encode(origin)
    return HEAD.pack(MAGIC, FORMAT, crc32c(payload)) + payload


def decode(octets: bytes) -> Origin:
    """Raises IncarnationDamaged; both numbers are named when the format is unknown."""
    if len(octets) < HEAD.size:
        raise IncarnationDamaged(f"the file {FILE} has {len(octets)} octets")
    magic, number, crc = HEAD.unpack_from(octets)
    if magic != MAGIC or number != FORMAT:
        raise IncarnationDamaged(
            f"the file {FILE} has format {number} of {magic!r}; this version reads format {FORMAT} of {MAGIC!r}"
        )
    payload = octets[HEAD.size :]
    if crc32c(payload) != crc:
        raise IncarnationDamaged(f"the file {FILE} has a wrong checksum")
    try:
        return msgspec.msgpack.decode(payload, type=Origin)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise IncarnationDamaged(f"the file {FILE} is not readable: {error}") from None


def stored_origin(disk: Disk) -> Origin:
    """Raises IncarnationDamaged, OSError."""
    try:
        return decode(disk.read(FILE))
    except FileNotFoundError:
        return Origin()


async def store_origin(disk: Disk, origin: Origin) -> None:
    """Durable when it returns. Raises OSError."""
    await disk.replace(FILE, encode(origin))


def aside(incarnation: int) -> str:
    """The directory of what the beginning of this incarnation set aside."""
    return f"aside/{incarnation:06d}"


async def set_journal_aside(disk: Disk, log: ReplicaLog, sn: int, incarnation: int) -> tuple[int, int]:
    """Copies the groups after `sn` to where they are kept; (groups, operations) that are there then. Raises OSError.

    When there are none any more, an earlier attempt has copied and cut them.
    """
    kept = Journal.open(disk, f"{aside(incarnation)}/journal")
    if log.last.sn > sn:
        kept.restart_at(max(sn, log.base.sn) + 1)
        for first in range(kept.first_sn, log.last.sn + 1, SYNC_EVERY):
            for octets in log.octets(first, first + SYNC_EVERY - 1):
                group = decode_group(octets)
                kept.append(group.sn, group.epoch, octets)
            await kept.sync()
    groups = operations = 0
    for _, octets in kept.entries(kept.first_sn, kept.last_sn):
        groups += 1
        operations += sum(call_of(record) != ("", 0) for record in decode_group(octets).records)
    return groups, operations
