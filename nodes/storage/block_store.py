"""The replicas of blocks on one data node's disk.

A replica is written in order, becomes durable when it is finished, and is checked on every read. The store does not know its callers.
"""

from __future__ import annotations

import errno
from contextlib import suppress

import msgspec

from nodes.metadata.operations import BLOCK_SIZE_MAX, CHUNK_BYTES
from nodes.storage.block_file import (
    HEAD_BYTES,
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
from nodes.storage.found_names import keep_names
from nodes.units import home_group
from nodes.world import AppendFile, Disk

DIRECTORY = "blocks"
ASIDE = "aside"
"""Directory of quarantined replicas, which a recovery to a checkpoint took out of the file system. They are neither read, reported nor removed."""
WRITING_MAX = 256
"""Largest number of replicas being written: each has an open file."""
READ_BYTES = 1 << 16
"""Largest number of bytes of one read."""
RESERVE_BYTES = 1 << 30
RESERVE_SHARE = 20
"""Of its medium the store leaves a twentieth free, at most `RESERVE_BYTES`: for the trace of events and the states of replicas."""
GROUPS_MAX = 1 << 16
STAMP_MAX = (1 << 32) - 1


class BlockRefused(Exception):
    """The block does not allow the requested operation; one line gives the reason."""


class StoredReplica(msgspec.Struct):
    """One replica of this store."""

    stamp: int
    length: int
    final: bool = False
    """The replica is whole and durable."""
    damaged: bool = False
    read_back: bool = False
    """An earlier process left the replica half written: its bytes may not be on the disk yet."""


class BlockStore:
    """All replicas of one server. `capacity`: the largest total number of bytes."""

    def __init__(self, disk: Disk, capacity: int):
        self._disk = disk
        self.capacity = capacity
        self.reserve = min(disk.capacity() // RESERVE_SHARE, RESERVE_BYTES)
        self.replicas: dict[int, StoredReplica] = {}
        self.used = 0
        """Bytes of all replicas, quarantined ones included."""
        self._open: dict[int, AppendFile] = {}

    @classmethod
    def open(cls, disk: Disk, capacity: int) -> BlockStore:
        """Reads the store and marks damaged replicas. Raises UnknownFormat, OSError; alters nothing."""
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
        replica = self.replicas[block] = StoredReplica(0, 0, damaged=True)
        try:
            replica.stamp = read_head(_data(block), self._disk.read(_data(block), 0, HEAD_BYTES), block)
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
        """Number of valid bytes of a replica that was being written."""
        for offset in range(0, length, READ_BYTES):
            data, sums = self._lying(block, offset, min(READ_BYTES, length - offset))
            bad = first_bad(data, sums)
            if bad >= 0:
                return offset + bad
        return length

    def room(self, given_up: int = 0) -> int:
        """Number of bytes that it may still take, when so many are given up."""
        return max(0, given_up + min(self.capacity - self.used, self._disk.free() - self.reserve))

    def _check_room(self, size: int, path: str, given_up: int = 0) -> None:
        if size > self.room(given_up):
            line = f"no room: the data node takes {self.capacity} bytes, and leaves {self.reserve} of its disk free"
            raise OSError(errno.ENOSPC, line, path)

    async def keep_found(self) -> None:
        """Makes durable what was found at opening. Raises OSError."""
        await keep_names(self._disk, DIRECTORY)

    # --- writing ---------------------------------------------------------------------------------------------------

    async def begin(self, block: int, stamp: int, length: int) -> None:
        """Opens a replica for writing behind its first `length` bytes. Raises BlockRefused, OSError."""
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

    def _gives_way(self, block: int, old: StoredReplica, stamp: int, length: int) -> bool:
        """Whether a replica may be replaced: always by a later stamp, by the same stamp only when it was left half written."""
        left_behind = not old.final and block not in self._open
        return stamp > old.stamp or (stamp == old.stamp and left_behind and not length)

    def _check_number(self, block: int, stamp: int) -> None:
        if not 0 < home_group(block) < GROUPS_MAX or not 0 < stamp <= STAMP_MAX:
            raise BlockRefused(f"no group numbers a block {block:x} with stamp {stamp}")

    def _create(self, block: int, stamp: int) -> None:
        there = block in self.replicas
        self._check_room(HEAD_BYTES, _data(block), self._size(block) if there else 0)
        if there:
            self.remove(block)
        file = self._open[block] = self._disk.open_append(_data(block))
        self.replicas[block] = StoredReplica(stamp, 0)
        file.append(head(block, stamp))

    def _size(self, block: int) -> int:
        try:
            return self._disk.size(_data(block))
        except FileNotFoundError:
            return 0

    async def _reopen(self, block: int, old: StoredReplica, stamp: int, length: int) -> None:
        if length > old.length or (length % CHUNK_BYTES and length != old.length):
            raise BlockRefused(
                f"block {block:016x} has {old.length} bytes here and cannot go on behind {length}"
            )
        await self._disk.replace(_state(block), state(block, stamp, WRITING))
        if old.read_back:
            await self._disk.replace(_data(block), self._disk.read(_data(block), 0, size_of(length)))
        file = self._open.get(block) or self._disk.open_append(_data(block))
        self._open[block] = file
        self.used -= old.length - length
        self.replicas[block] = StoredReplica(stamp, length)
        await file.truncate(size_of(length))

    def append(self, block: int, offset: int, data: bytes, sums: bytes) -> None:
        """Appends bytes. Raises BlockRefused, OSError."""
        replica, file = self.replicas.get(block), self._open.get(block)
        if replica is None or file is None:
            raise BlockRefused(f"block {block:016x} is not being written here")
        if offset != replica.length or offset % CHUNK_BYTES:
            raise BlockRefused(f"block {block:016x} has {replica.length} bytes here; {offset} were expected")
        if offset + len(data) > BLOCK_SIZE_MAX:
            raise BlockRefused(f"a block has at most {BLOCK_SIZE_MAX} bytes")
        self._check_room(len(data), _data(block))
        bad = first_bad(data, sums)
        if bad >= 0:
            raise BlockRefused(f"block {block:016x} came with a wrong checksum at offset {offset + bad}")
        file.append(woven(data, sums))
        replica.length += len(data)
        self.used += len(data)

    async def finish(self, block: int) -> StoredReplica:
        """Makes the replica whole; durable on return. Raises BlockRefused, OSError.

        A replica whose sync failed is damaged: its bytes may not be on the disk, and no later sync would write them.
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
        """Ends writing; the written bytes stay."""
        file = self._open.pop(block, None)
        if file is not None:
            file.close()

    def remove(self, block: int) -> None:
        """Removes the replica. Raises OSError: it stays as a damaged one, because a part of it may be gone, and can be removed again."""
        self.leave(block)
        replica = self.replicas.get(block)
        if replica is None:
            return
        try:
            for path in (_state(block), _data(block)):
                with suppress(FileNotFoundError):
                    self._disk.remove(path)
        except OSError:
            replica.damaged = True
            raise
        del self.replicas[block]
        self.used -= replica.length

    async def set_aside(self, block: int) -> int:
        """Quarantines a replica with the bytes written so far; returns their number. Durable on return. Raises OSError.

        A crash in between leaves an incomplete replica, which can be quarantined again.
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

        Raises BlockRefused, OSError, and BlockDamaged: the replica is marked as damaged from then on.
        """
        replica = self.replicas.get(block)
        if replica is None:
            raise BlockRefused(f"block {block:016x} is not here")
        if replica.damaged:
            raise BlockRefused(f"block {block:016x} is damaged here")
        if offset % CHUNK_BYTES or not 0 <= offset <= replica.length or not 0 < length <= READ_BYTES:
            raise BlockRefused(f"block {block:016x} is read in whole chunks, {READ_BYTES} bytes at most")
        end = offset + -(-length // CHUNK_BYTES) * CHUNK_BYTES
        length = min(end, replica.length) - offset
        data, sums = self._lying(block, offset, length)
        bad = first_bad(data, sums)
        if bad >= 0 or len(data) != length:
            replica.damaged = True
            raise BlockDamaged(f"{_data(block)} is damaged at offset {offset + max(0, bad)}")
        return data, sums

    def _lying(self, block: int, offset: int, length: int) -> tuple[bytes, bytes]:
        start = HEAD_BYTES + offset // CHUNK_BYTES * STRIDE
        return unwoven(self._disk.read(_data(block), start, size_of(offset + length) - start))


def _data(block: int) -> str:
    return f"{DIRECTORY}/{block:016x}.blk"


def _state(block: int) -> str:
    return f"{DIRECTORY}/{block:016x}.rep"
