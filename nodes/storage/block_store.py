"""The replicas of blocks on one data node's disk.

A replica is written in order, becomes durable when it is finished, and is checked on every read. A copy of another node's whole replica is none
before it is whole, too: until then it has a file of its own. The store does not know its callers.
"""

from __future__ import annotations

import errno
from contextlib import suppress
from dataclasses import dataclass

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


@dataclass(eq=False)
class OpenReplica:
    """A replica that is being written."""

    replica: StoredReplica
    file: AppendFile
    is_copy: bool
    """Another node's replica is copied: it is none of this store yet, and its bytes are only counted."""


class BlockStore:
    """All replicas of one server. `capacity`: the largest total number of bytes."""

    def __init__(self, disk: Disk, capacity: int):
        self._disk = disk
        self.capacity = capacity
        self.reserve = min(disk.capacity() // RESERVE_SHARE, RESERVE_BYTES)
        self.replicas: dict[int, StoredReplica] = {}
        self.used = 0
        """Bytes of all replicas, quarantined ones included."""
        self._open: dict[int, OpenReplica] = {}
        self._leftovers: list[int] = []
        """Blocks of which an earlier process left a copy unfinished."""

    @classmethod
    def open(cls, disk: Disk, capacity: int) -> BlockStore:
        """Reads the store and marks damaged replicas. Raises UnknownFormat, OSError; alters nothing."""
        store = cls(disk, capacity)
        names = [found for name in disk.names(DIRECTORY) if (found := NAME.match(name))]
        states = {found[1] for found in names if found[2] == "rep"}
        for found in names:
            if found[2] == "blk":
                store._found(int(found[1], 16), found[1] in states)
            elif found[2] == "cpy":
                store._leftovers.append(int(found[1], 16))
        aside = [name for name in disk.names(ASIDE) if name.endswith(".blk")]
        store.used += sum(length_of(disk.size(f"{ASIDE}/{name}")) for name in aside)
        return store

    def _found(self, block: int, stated: bool) -> None:
        replica = self.replicas[block] = StoredReplica(0, 0, damaged=True)
        try:
            begun = read_head(_data(block), self._disk.read(_data(block), 0, HEAD_BYTES), block)
            replica.stamp, length = begun, WRITING
            if stated:
                known = read_state(_state(block), self._disk.read(_state(block)), block)
                # An earlier stamp is that of a former replica, whose place a copy had just taken.
                replica.stamp, length = max(known, (begun, WRITING))
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
        """Makes durable what was found at opening, and removes what interrupted copies left. Raises OSError."""
        await keep_names(self._disk, DIRECTORY)
        for block in self._leftovers:
            if not self._is_copied(block):
                with suppress(OSError):
                    self._disk.remove(_copy(block))

    # --- writing ---------------------------------------------------------------------------------------------------

    async def begin(self, block: int, stamp: int, length: int, is_copy: bool = False) -> None:
        """Opens a replica for writing behind its first `length` bytes. A copy leaves a replica that is not damaged in its place until it is
        whole. Raises BlockRefused, OSError."""
        self._check_number(block, stamp)
        if block not in self._open and len(self._open) >= WRITING_MAX:
            raise BlockRefused(f"{WRITING_MAX} blocks are being written here, the most at once")
        old = self.replicas.get(block)
        if old is not None and not old.damaged and not self._gives_way(block, old, stamp, length):
            raise BlockRefused(f"block {block:016x} has stamp {old.stamp} here, not one below {stamp}")
        if is_copy or self._is_copied(block):
            self.leave(block)
        if old is None or old.damaged or is_copy or not length:
            if length:
                raise BlockRefused(f"block {block:016x} is not here")
            self._create(block, stamp, is_copy)
        else:
            await self._reopen(block, old, stamp, length)

    def _gives_way(self, block: int, old: StoredReplica, stamp: int, length: int) -> bool:
        """Whether a replica may be replaced: always by a later stamp, by the same stamp only when it was left half written."""
        left_behind = not old.final and (block not in self._open or self._is_copied(block))
        return stamp > old.stamp or (stamp == old.stamp and left_behind and not length)

    def _check_number(self, block: int, stamp: int) -> None:
        if not 0 < home_group(block) < GROUPS_MAX or not 0 < stamp <= STAMP_MAX:
            raise BlockRefused(f"no group numbers a block {block:x} with stamp {stamp}")

    def _is_copied(self, block: int) -> bool:
        return block in self._open and self._open[block].is_copy

    def _create(self, block: int, stamp: int, is_copy: bool) -> None:
        old, path = self.replicas.get(block), _copy(block) if is_copy else _data(block)
        goes = old is not None and (old.damaged or not is_copy)
        self._check_room(HEAD_BYTES, path, self._size(block) if goes else 0)
        if goes:
            self.remove(block)
        if is_copy:
            with suppress(FileNotFoundError):
                self._disk.remove(path)
        replica = StoredReplica(stamp, 0)
        opened = self._open[block] = OpenReplica(replica, self._disk.open_append(path), is_copy)
        if not is_copy:
            self.replicas[block] = replica
        opened.file.append(head(block, stamp))

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
        opened = self._open.get(block)
        file = opened.file if opened is not None else self._disk.open_append(_data(block))
        self.used -= old.length - length
        replica = self.replicas[block] = StoredReplica(stamp, length)
        self._open[block] = OpenReplica(replica, file, False)
        await file.truncate(size_of(length))

    def append(self, block: int, offset: int, data: bytes, sums: bytes) -> None:
        """Appends bytes. Raises BlockRefused, OSError."""
        opened = self._open.get(block)
        if opened is None:
            raise BlockRefused(f"block {block:016x} is not being written here")
        replica = opened.replica
        if offset != replica.length or offset % CHUNK_BYTES:
            raise BlockRefused(f"block {block:016x} has {replica.length} bytes here; {offset} were expected")
        if offset + len(data) > BLOCK_SIZE_MAX:
            raise BlockRefused(f"a block has at most {BLOCK_SIZE_MAX} bytes")
        self._check_room(len(data), _data(block))
        bad = first_bad(data, sums)
        if bad >= 0:
            raise BlockRefused(f"block {block:016x} came with a wrong checksum at offset {offset + bad}")
        opened.file.append(woven(data, sums))
        replica.length += len(data)
        self.used += len(data)

    async def finish(self, block: int) -> StoredReplica:
        """Makes the replica whole; durable on return. Raises BlockRefused, OSError.

        A replica whose sync failed is damaged: its bytes may not be on the disk, and no later sync would write them. Such a copy is given up.
        """
        opened = self._open.get(block)
        if opened is None:
            raise BlockRefused(f"block {block:016x} is not being written here")
        replica = opened.replica
        try:
            await opened.file.sync()
            if opened.is_copy:
                await self._take_place(block, opened)
        except OSError:
            replica.damaged = True
            raise
        finally:
            if self._open.get(block) is opened:
                self.leave(block)
        await self._disk.replace(_state(block), state(block, replica.stamp, replica.length))
        replica.final = True
        return replica

    async def _take_place(self, block: int, opened: OpenReplica) -> None:
        """Makes a synced copy the block's replica. Raises OSError: then it is damaged, because it may have replaced the former one.

        A crash from here on leaves the former replica, or a whole one that looks unfinished.
        """
        try:
            await self._disk.move(_copy(block), _data(block))
        except OSError:
            self._hold_copy(block, opened)
            with suppress(OSError):
                self._disk.remove(_copy(block))
            raise
        self._hold_copy(block, opened)

    def _hold_copy(self, block: int, opened: OpenReplica) -> None:
        old = self.replicas.get(block)
        self.used -= old.length if old is not None else 0
        self.replicas[block] = opened.replica
        opened.is_copy = False

    def leave(self, block: int) -> None:
        """Ends writing; the written bytes stay, except those of a copy. What a failing disk does not remove of it is no replica either."""
        opened = self._open.pop(block, None)
        if opened is None:
            return
        opened.file.close()
        if opened.is_copy:
            self.used -= opened.replica.length
            with suppress(OSError):
                self._disk.remove(_copy(block))

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


def _copy(block: int) -> str:
    return f"{DIRECTORY}/{block:016x}.cpy"
