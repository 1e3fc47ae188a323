"""The replicas of blocks on one data node's disk.

What is begun is written in order, becomes durable when it is finished, and is checked whenever it is read. Nothing here knows who asks.
"""

from __future__ import annotations

import errno
from contextlib import suppress

import msgspec

from nodes.metadata.operations import BLOCK_SIZE_MAX, CHUNK_OCTETS
from nodes.storage.block_file import (
    HEAD_OCTETS,
    NAME,
    STRIDE,
    WRITING,
    BlockDamaged,
    head,
    length_of,
    read_head,
    read_state,
    size_of,
    state,
    unwoven,
    woven,
)
from nodes.storage.chunks import first_bad
from nodes.units import home_group
from nodes.world import AppendFile, Disk

DIRECTORY = "blocks"
ASIDE = "aside"
"""Where replicas lie that a recovery to a checkpoint took out of the file system: nobody reads or reports them, and nothing removes them."""
WRITING_MAX = 256
"""Replicas that may be written at once: each has an open file."""
READ_OCTETS = 1 << 16
"""The most that one reading takes."""
GROUPS_MAX = 1 << 16
STAMP_MAX = (1 << 32) - 1


class BlockRefused(Exception):
    """What was asked for cannot be done with this block; one line says why."""


class Replica(msgspec.Struct):
    """One block here."""

    stamp: int
    length: int
    final: bool = False
    """Whole and durable."""
    damaged: bool = False
    read_back: bool = False
    """Half written by an earlier life: what is read of it may be on no disk."""


class BlockStore:
    """All replicas of one server. `capacity` is the most octets it takes."""

    def __init__(self, disk: Disk, capacity: int):
        self._disk = disk
        self.capacity = capacity
        self.replicas: dict[int, Replica] = {}
        self.used = 0
        """Octets of all replicas, those that were set aside among them."""
        self._open: dict[int, AppendFile] = {}

    @classmethod
    def open(cls, disk: Disk, capacity: int) -> BlockStore:
        """Reads what is there: a damaged replica is known as such. Raises UnknownFormat, OSError; alters nothing."""
        store = cls(disk, capacity)
        names = [found for name in disk.names(DIRECTORY) if (found := NAME.match(name))]
        states = {found[1] for found in names if found[2] == "rep"}
        for found in names:
            if found[2] == "blk":
                store._found(int(found[1], 16), found[1] in states)
        aside = [name for name in disk.names(ASIDE) if name.endswith(".blk")]
        store.used += sum(length_of(disk.size(f"{ASIDE}/{name}")) for name in aside)
        return store

    def _found(self, block: int, stated: bool) -> None:
        replica = self.replicas[block] = Replica(0, 0, damaged=True)
        try:
            replica.stamp = read_head(_data(block), self._disk.read(_data(block), 0, HEAD_OCTETS), block)
            length = WRITING
            if stated:
                replica.stamp, length = read_state(_state(block), self._disk.read(_state(block)), block)
            size = self._disk.size(_data(block))
            replica.final = length != WRITING
            replica.length = length if replica.final else self._whole_chunks(block, length_of(size))
            replica.damaged = replica.final and size < size_of(length)
            replica.read_back = not replica.final
        except BlockDamaged:
            pass
        self.used += replica.length

    def _whole_chunks(self, block: int, length: int) -> int:
        """How much of a replica that was being written is valid."""
        for offset in range(0, length, READ_OCTETS):
            octets, sums = self._lying(block, offset, min(READ_OCTETS, length - offset))
            bad = first_bad(octets, sums)
            if bad >= 0:
                return offset + bad
        return length

    # --- writing ---------------------------------------------------------------------------------------------------

    async def begin(self, block: int, stamp: int, length: int) -> None:
        """Opens a replica to be written behind its first `length` octets. Raises BlockRefused, OSError."""
        self._check_number(block, stamp)
        if block not in self._open and len(self._open) >= WRITING_MAX:
            raise BlockRefused(f"{WRITING_MAX} blocks are being written here, the most at once")
        old = self.replicas.get(block)
        if old is not None and not old.damaged and not self._gives_way(block, old, stamp, length):
            raise BlockRefused(f"block {block:016x} has stamp {old.stamp} here, not one below {stamp}")
        if old is None or old.damaged or not length:
            if length:
                raise BlockRefused(f"block {block:016x} is not here")
            self._create(block, stamp)
        else:
            await self._reopen(block, old, stamp, length)

    def _gives_way(self, block: int, old: Replica, stamp: int, length: int) -> bool:
        """To a later stamp always; to the same one when it was left behind half written."""
        left_behind = not old.final and block not in self._open
        return stamp > old.stamp or (stamp == old.stamp and left_behind and not length)

    def _check_number(self, block: int, stamp: int) -> None:
        if not 0 < home_group(block) < GROUPS_MAX or not 0 < stamp <= STAMP_MAX:
            raise BlockRefused(f"no group numbers a block {block:x} with stamp {stamp}")

    def _create(self, block: int, stamp: int) -> None:
        if block in self.replicas:
            self.remove(block)
        file = self._open[block] = self._disk.open_append(_data(block))
        self.replicas[block] = Replica(stamp, 0)
        file.append(head(block, stamp))

    async def _reopen(self, block: int, old: Replica, stamp: int, length: int) -> None:
        if length > old.length or (length % CHUNK_OCTETS and length != old.length):
            raise BlockRefused(
                f"block {block:016x} has {old.length} octets here and cannot go on behind {length}"
            )
        await self._disk.replace(_state(block), state(block, stamp, WRITING))
        if old.read_back:
            await self._disk.replace(_data(block), self._disk.read(_data(block), 0, size_of(length)))
        file = self._open.get(block) or self._disk.open_append(_data(block))
        self._open[block] = file
        self.used -= old.length - length
        self.replicas[block] = Replica(stamp, length)
        await file.truncate(size_of(length))

    def append(self, block: int, offset: int, octets: bytes, sums: bytes) -> None:
        """Takes octets behind what is there. Raises BlockRefused, OSError."""
        replica, file = self.replicas.get(block), self._open.get(block)
        if replica is None or file is None:
            raise BlockRefused(f"block {block:016x} is not being written here")
        if offset != replica.length or offset % CHUNK_OCTETS:
            raise BlockRefused(f"block {block:016x} has {replica.length} octets here; {offset} were expected")
        if offset + len(octets) > BLOCK_SIZE_MAX:
            raise BlockRefused(f"a block has at most {BLOCK_SIZE_MAX} octets")
        if self.used + len(octets) > self.capacity:
            raise OSError(errno.ENOSPC, f"the data node takes {self.capacity} octets", _data(block))
        bad = first_bad(octets, sums)
        if bad >= 0:
            raise BlockRefused(f"block {block:016x} came with a wrong checksum at offset {offset + bad}")
        file.append(woven(octets, sums))
        replica.length += len(octets)
        self.used += len(octets)

    async def finish(self, block: int) -> Replica:
        """Makes the replica whole; durable when it returns. Raises BlockRefused, OSError.

        One whose sync failed is damaged: what is read of it may be on no disk, and no later sync would bring it there.
        """
        replica, file = self.replicas.get(block), self._open.pop(block, None)
        if replica is None or file is None:
            raise BlockRefused(f"block {block:016x} is not being written here")
        try:
            await file.sync()
        except OSError:
            replica.damaged = True
            raise
        finally:
            file.close()
        await self._disk.replace(_state(block), state(block, replica.stamp, replica.length))
        replica.final = True
        return replica

    def leave(self, block: int) -> None:
        """Nobody writes the replica any more; what was written stays as it is."""
        file = self._open.pop(block, None)
        if file is not None:
            file.close()

    def remove(self, block: int) -> None:
        """Raises OSError."""
        self.leave(block)
        replica = self.replicas.pop(block, None)
        if replica is None:
            return
        self.used -= replica.length
        for path in (_state(block), _data(block)):
            try:
                self._disk.remove(path)
            except FileNotFoundError:
                pass

    async def set_aside(self, block: int) -> int:
        """Puts a replica, as far as it was written, where it is kept and not used; its octets. Durable when it returns. Raises OSError.

        A crash in between leaves a replica that is not whole, which can be set aside again.
        """
        self.leave(block)
        replica = self.replicas.pop(block)
        try:
            for path in (_state(block), _data(block)):
                with suppress(FileNotFoundError):
                    await self._disk.move(path, f"{ASIDE}/{path.rpartition('/')[2]}")
        except OSError:
            self.replicas[block] = replica
            raise
        return replica.length

    # --- reading ---------------------------------------------------------------------------------------------------

    def read(self, block: int, offset: int, length: int) -> tuple[bytes, bytes]:
        """Whole chunks from an offset on, at most 64 KiB, and their checksums, which were checked.

        Raises BlockRefused, OSError, and BlockDamaged: the replica is known as damaged from then on.
        """
        replica = self.replicas.get(block)
        if replica is None:
            raise BlockRefused(f"block {block:016x} is not here")
        if replica.damaged:
            raise BlockRefused(f"block {block:016x} is damaged here")
        if offset % CHUNK_OCTETS or not 0 <= offset <= replica.length or not 0 < length <= READ_OCTETS:
            raise BlockRefused(f"block {block:016x} is read in whole chunks, {READ_OCTETS} octets at most")
        end = offset + -(-length // CHUNK_OCTETS) * CHUNK_OCTETS
        length = min(end, replica.length) - offset
        octets, sums = self._lying(block, offset, length)
        bad = first_bad(octets, sums)
        if bad >= 0 or len(octets) != length:
            replica.damaged = True
            raise BlockDamaged(f"{_data(block)} is damaged at offset {offset + max(0, bad)}")
        return octets, sums

    def _lying(self, block: int, offset: int, length: int) -> tuple[bytes, bytes]:
        start = HEAD_OCTETS + offset // CHUNK_OCTETS * STRIDE
        return unwoven(self._disk.read(_data(block), start, size_of(offset + length) - start))


def _data(block: int) -> str:
    return f"{DIRECTORY}/{block:016x}.blk"


def _state(block: int) -> str:
    return f"{DIRECTORY}/{block:016x}.rep"
