"""A disk in memory that can lose unsynced data."""

from __future__ import annotations


class MachineDied(Exception):
    """The machine dies in the middle of a call."""


class MemoryFile:
    def __init__(self, disk: MemoryDisk, path: str):
        self._disk = disk
        self._path = path
        disk.files.setdefault(path, bytearray())

    @property
    def size(self) -> int:
        return len(self._disk.files[self._path])

    def append(self, data: bytes) -> None:
        self._disk.files[self._path] += data

    async def sync(self) -> None:
        if self._disk.fails:
            raise OSError(5, "Input/output error", self._path)
        self._disk.durable[self._path] = bytes(self._disk.files[self._path])

    async def truncate(self, size: int) -> None:
        del self._disk.files[self._path][size:]
        await self.sync()

    def close(self) -> None:
        pass


class MemoryDisk:
    def __init__(self, capacity: int = 1 << 40) -> None:
        self._capacity = capacity
        self.files: dict[str, bytearray] = {}
        self.durable: dict[str, bytes] = {}
        self.fails = False
        self.fails_at = ""
        """The one file whose replacement or removal fails."""
        self.removals_left = -1
        """Number of removals before the machine dies; -1 for never."""

    def names(self, directory: str) -> list[str]:
        return sorted(path.rpartition("/")[2] for path in self.files if path.startswith(directory + "/"))

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        if path not in self.files:
            raise FileNotFoundError(path)
        data = bytes(self.files[path])
        return data[offset:] if length is None else data[offset : offset + length]

    def size(self, path: str) -> int:
        return len(self.read(path))

    def capacity(self) -> int:
        return self._capacity

    def free(self) -> int:
        return self._capacity - sum(map(len, self.files.values()))

    def open_append(self, path: str) -> MemoryFile:
        return MemoryFile(self, path)

    async def replace(self, path: str, data: bytes) -> None:
        if self.fails or path == self.fails_at:
            raise OSError(5, "Input/output error", path)
        self.files[path] = bytearray(data)
        self.durable[path] = data

    async def move(self, path: str, to: str) -> None:
        if path not in self.files:
            raise FileNotFoundError(path)
        if self.fails:
            raise OSError(5, "Input/output error", path)
        self.files[to] = self.files.pop(path)
        if path in self.durable:
            self.durable[to] = self.durable.pop(path)

    def remove(self, path: str) -> None:
        if path not in self.files:
            raise FileNotFoundError(path)
        if self.removals_left == 0:
            raise MachineDied
        if path == self.fails_at:
            raise OSError(5, "Input/output error", path)
        self.removals_left -= 1
        del self.files[path]
        self.durable.pop(path, None)

    def lose_power(self, torn: int = 0) -> None:
        """Drops unsynced data, but keeps up to `torn` bytes of it."""
        self.files = {
            path: bytearray(self.files[path][: len(data) + torn])
            if bytes(self.files.get(path, b"")).startswith(data)
            else bytearray(data)
            for path, data in self.durable.items()
        }
