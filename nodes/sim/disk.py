"""The simulated disk: written data survives a crash, only synced data survives a power loss."""

from __future__ import annotations

import asyncio
import errno
import os
import random

from nodes.sim.clock import finish
from nodes.sim.conditions import CAPACITY
from nodes.sim.loop import Machine
from nodes.sim.medium import LEFT_BEHIND, MediumFile, MediumStore

__all__ = ["CAPACITY", "MediumFile", "MediumStore", "SimDisk", "SimFile"]


class SimFile:
    def __init__(self, disk: SimDisk, path: str):
        self._disk = disk
        self._path = path
        self._file = disk.store.files.setdefault(path, MediumFile())

    @property
    def size(self) -> int:
        return len(self._file.data)

    def append(self, data: bytes) -> None:
        store = self._disk.store
        store.check(self._path, "write")
        store.take(self._path, len(data))
        if not self._disk.machine.dead:
            self._file.data += data

    async def sync(self) -> None:
        synced, room = self._disk.store.synced, self._path.partition("/")[0]
        synced[room] = synced.get(room, 0) + 1
        file, cuts = self._file, self._file.cuts
        size = len(file.data)
        try:
            await self._disk.wait(self._path, "sync")
        except OSError:
            file.sync_failed(size)
            raise
        fresh = file.durable < 0
        file.synced(size, cuts)
        if fresh:
            self._disk.store.directories_synced(self._path)
        await self._disk.reached("after", self._path)

    async def truncate(self, size: int) -> None:
        self._disk.store.check(self._path, "write")
        if not self._disk.machine.dead:
            self._file.cut(size)
        await self.sync()

    def close(self) -> None:
        pass


class SimDisk:
    """One process's access to its server's medium."""

    def __init__(self, machine: Machine, store: MediumStore):
        self.machine = machine
        self.store = store

    async def wait(self, path: str, *kinds: str) -> None:
        """Waits for the time of a sync. Raises OSError."""
        await self.reached("before", path)
        loop = self.machine.loop
        done: asyncio.Future[None] = asyncio.Future(loop=loop)
        loop.at(loop.now_ns + self.store.sync_ns(), finish, done)
        await done
        self.store.check(path, *kinds)

    async def reached(self, when: str, path: str) -> None:
        """Lets a schedule inject a fault here; a server that it stopped does not continue."""
        if self.store.at_sync(when, path):
            await self.machine.stalled()

    def names(self, directory: str) -> list[str]:
        prefix = directory.rstrip("/") + "/"
        return sorted(
            path[len(prefix) :]
            for path in self.store.files
            if path.startswith(prefix) and "/" not in path[len(prefix) :]
        )

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        file = self._there(path, "read")
        end = len(file.data) if length is None else offset + length
        data = bytes(file.data[offset:end])
        self.store.bytes_read += len(data)
        return data

    def size(self, path: str) -> int:
        return len(self._there(path, "read").data)

    def _there(self, path: str, kind: str) -> MediumFile:
        self.store.check(path, kind)
        file = self.store.files.get(path)
        if file is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return file

    def capacity(self) -> int:
        return self.store.capacity

    def free(self) -> int:
        return self.store.free()

    def open_append(self, path: str) -> SimFile:
        self.store.check(path, "write")
        return SimFile(self, path)

    async def replace(self, path: str, data: bytes) -> None:
        """Replaces a file. A crash in between leaves the old file, the new one, or the old one and a part of the new one beside it."""

        def happen(rng: random.Random) -> None:
            outcome = rng.random()
            if outcome < 0.4:
                self.store.put(path, _whole(data))
            elif outcome < 0.6:
                self.store.put(path + LEFT_BEHIND, _whole(data[: rng.randint(0, len(data))]))

        call = self.store.begin(happen)
        try:
            await self.wait(path, "write", "sync")
            self.store.take(path, len(data))
        except (OSError, asyncio.CancelledError):
            self.store.end(call)
            raise
        if self.store.end(call):
            self.store.files[path] = _whole(data)
            self.store.directories_synced(path)
        await self.reached("after", path)

    async def move(self, path: str, to: str) -> None:
        """Renames a file. A crash in between leaves the old name or the new one."""
        self._there(path, "write")

        call = self.store.begin(lambda rng: self.store.rename(path, to) if rng.random() < 0.5 else None)
        try:
            await self.wait(path, "write", "sync")
        except (OSError, asyncio.CancelledError):
            self.store.end(call)
            raise
        if self.store.end(call):
            self.store.rename(path, to)
            self.store.directories_synced(path, to)
        await self.reached("after", path)

    def remove(self, path: str) -> None:
        """Removes a file; durable on return, because its directory is synced."""
        self._there(path, "write")
        if not self.machine.dead:
            del self.store.files[path]
            self.store.directories_synced(path)


def _whole(data: bytes) -> MediumFile:
    file = MediumFile()
    file.data += data
    file.durable = len(data)
    return file
