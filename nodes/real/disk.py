"""A server's directory. The single sync of a turn blocks the loop: it takes less time than waking a thread.

`slow_ns` and `fails` are the faults of a disk.
"""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path

from nodes.real.synced_lengths import WHOLE, Synced
from nodes.real.turn import Turn

fdatasync = getattr(os, "fdatasync", os.fsync)
SECOND = 1_000_000_000


class RealFile:
    def __init__(self, disk: RealDisk, path: Path):
        self._disk = disk
        self._path = path
        fresh = not path.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._synced = disk.synced()
        self._slot = self._synced.slot_of(disk.name(path), -1 if fresh else path.stat().st_size)
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.size = os.fstat(self._fd).st_size
        if fresh:
            sync_directory(path.parent)
            self._synced.keep(self._slot, 0)
        else:
            self._synced.limit(self._slot, self.size)

    def append(self, data: bytes) -> None:
        self._disk.check(self._path)
        view = memoryview(data)
        while view:
            written = os.write(self._fd, view)
            self.size += written
            view = view[written:]

    async def sync(self) -> None:
        await self._disk.before_sync(self._path)
        size = self.size
        fdatasync(self._fd)
        self._synced.keep(self._slot, size)

    async def truncate(self, size: int) -> None:
        os.ftruncate(self._fd, size)
        self.size = size
        await self.sync()

    def close(self) -> None:
        os.close(self._fd)


class RealDisk:
    """Paths are relative to `root`."""

    def __init__(self, root: Path, turn: Turn):
        self.root = root
        self.slow_ns = 0
        self.fails = False
        self._turn = turn
        self._synced: Synced | None = None

    def synced(self) -> Synced:
        """The record of durable lengths, opened with the first file. Raises Damaged, OSError."""
        if self._synced is None:
            self.root.mkdir(parents=True, exist_ok=True)
            self._synced = Synced(self.root)
        return self._synced

    def name(self, path: Path) -> str:
        return str(path.relative_to(self.root))

    def check(self, path: Path) -> None:
        """Raises OSError while the disk fails."""
        if self.fails:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    async def before_sync(self, path: Path) -> None:
        """Sends the turn's messages first, so that the peers' disks work in parallel."""
        await self._turn.over()
        if self.slow_ns:
            await asyncio.sleep(self.slow_ns / SECOND)
        self.check(path)

    def names(self, directory: str) -> list[str]:
        try:
            return sorted(entry.name for entry in os.scandir(self.root / directory) if entry.is_file())
        except FileNotFoundError:
            return []

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        self.check(self.root / path)
        with (self.root / path).open("rb") as file:
            file.seek(offset)
            return file.read() if length is None else file.read(length)

    def size(self, path: str) -> int:
        return (self.root / path).stat().st_size

    def capacity(self) -> int:
        reported = os.statvfs(self.root)
        return reported.f_frsize * reported.f_blocks

    def free(self) -> int:
        reported = os.statvfs(self.root)
        return reported.f_frsize * reported.f_bavail

    def open_append(self, path: str) -> RealFile:
        self.check(self.root / path)
        return RealFile(self, self.root / path)

    async def replace(self, path: str, data: bytes) -> None:
        whole = self.root / path
        await self.before_sync(whole)
        whole.parent.mkdir(parents=True, exist_ok=True)
        fresh = whole.with_name(whole.name + ".new")
        with fresh.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        synced = self.synced()
        synced.keep(synced.slot_of(path, WHOLE), WHOLE)
        fresh.replace(whole)
        sync_directory(whole.parent)

    async def move(self, path: str, to: str) -> None:
        old, new = self.root / path, self.root / to
        await self.before_sync(old)
        new.parent.mkdir(parents=True, exist_ok=True)
        old.replace(new)
        sync_directory(new.parent)
        sync_directory(old.parent)
        self.synced().rename(path, to)

    def remove(self, path: str) -> None:
        (self.root / path).unlink()
        sync_directory((self.root / path).parent)
        self.synced().forget(path)


def sync_directory(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
