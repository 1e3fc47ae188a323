"""The simulated disk: what was written survives a crash, only what was synced survives a power loss."""

from __future__ import annotations

import asyncio
import errno
import os
import random

from nodes.sim.loop import Machine

MICROSECOND = 1_000
CAPACITY = 1 << 40
"""Of a medium that nobody fills."""


class StoredFile:
    """Its octets, and how many of them are durable; -1 while not even its name is."""

    __slots__ = ("durable", "octets")

    def __init__(self) -> None:
        self.octets = bytearray()
        self.durable = -1


class Store:
    """The medium of one server; outlives its processes."""

    def __init__(self, rng: random.Random):
        self.rng = rng
        self.files: dict[str, StoredFile] = {}
        self.slow_ns = 0
        self.fails = False
        self.capacity = CAPACITY
        self.synced: dict[str, int] = {}
        """By the first part of their path: how often files were synced."""

    def lose_power(self) -> None:
        """Unsynced names vanish; of unsynced octets a part may be there, torn anywhere."""
        for path, file in list(self.files.items()):
            if file.durable < 0:
                del self.files[path]
            elif len(file.octets) > file.durable:
                del file.octets[self.rng.randint(file.durable, len(file.octets)) :]
                file.durable = len(file.octets)

    def check(self, path: str) -> None:
        if self.fails:
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)

    def free(self) -> int:
        return self.capacity - sum(len(file.octets) for file in self.files.values())

    def take(self, path: str, octets: int) -> None:
        """Room for so many more. Raises OSError."""
        if self.capacity < CAPACITY and octets > self.free():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)

    def sync_ns(self) -> int:
        latency = 150 + int(self.rng.random() * 200)
        if self.rng.random() < 0.005:
            latency += int(self.rng.random() * 8_000)
        return latency * MICROSECOND + self.slow_ns


class SimFile:
    def __init__(self, disk: SimDisk, path: str):
        self._disk = disk
        self._path = path
        self._file = disk.store.files.setdefault(path, StoredFile())

    @property
    def size(self) -> int:
        return len(self._file.octets)

    def append(self, octets: bytes) -> None:
        self._disk.store.check(self._path)
        self._disk.store.take(self._path, len(octets))
        self._file.octets += octets

    async def sync(self) -> None:
        synced, room = self._disk.store.synced, self._path.partition("/")[0]
        synced[room] = synced.get(room, 0) + 1
        size = len(self._file.octets)
        await self._disk.wait(self._path)
        self._file.durable = max(self._file.durable, min(size, len(self._file.octets)))

    async def truncate(self, size: int) -> None:
        del self._file.octets[size:]
        self._file.durable = min(self._file.durable, size)
        await self.sync()

    def close(self) -> None:
        pass


class SimDisk:
    """One life's access to its server's medium."""

    def __init__(self, machine: Machine, store: Store):
        self._machine = machine
        self.store = store

    async def wait(self, path: str) -> None:
        """As long as the medium takes. Raises OSError."""
        done: asyncio.Future[None] = asyncio.Future(loop=self._machine.loop)
        self._machine.call_later(self.store.sync_ns(), _finish, done)
        await done
        self.store.check(path)

    def names(self, directory: str) -> list[str]:
        prefix = directory.rstrip("/") + "/"
        return sorted(
            path[len(prefix) :]
            for path in self.store.files
            if path.startswith(prefix) and "/" not in path[len(prefix) :]
        )

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        file = self._there(path)
        end = len(file.octets) if length is None else offset + length
        return bytes(file.octets[offset:end])

    def size(self, path: str) -> int:
        return len(self._there(path).octets)

    def _there(self, path: str) -> StoredFile:
        self.store.check(path)
        file = self.store.files.get(path)
        if file is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return file

    def capacity(self) -> int:
        return self.store.capacity

    def free(self) -> int:
        return self.store.free()

    def open_append(self, path: str) -> SimFile:
        self.store.check(path)
        return SimFile(self, path)

    async def replace(self, path: str, octets: bytes) -> None:
        await self.wait(path)
        self.store.take(path, len(octets))
        file = self.store.files[path] = StoredFile()
        file.octets += octets
        file.durable = len(octets)

    async def move(self, path: str, to: str) -> None:
        self._there(path)
        await self.wait(path)
        self._there(path)
        self.store.files[to] = self.store.files.pop(path)

    def remove(self, path: str) -> None:
        self._there(path)
        del self.store.files[path]


def _finish(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)
