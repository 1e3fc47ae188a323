"""A disk in memory that can lose what was not synced."""

from __future__ import annotations


class MachineDied(Exception):
    """In the middle of something."""


class MemoryFile:
    def __init__(self, disk: MemoryDisk, path: str):
        self._disk = disk
        self._path = path
        disk.files.setdefault(path, bytearray())

    @property
    def size(self) -> int:
        return len(self._disk.files[self._path])

    def append(self, octets: bytes) -> None:
        self._disk.files[self._path] += octets

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
    def __init__(self) -> None:
        self.files: dict[str, bytearray] = {}
        self.durable: dict[str, bytes] = {}
        self.fails = False
        self.fails_at = ""
        """The one file that cannot be replaced."""
        self.removals_left = -1
        """The machine dies at the removal after so many; -1 for never."""

    def names(self, directory: str) -> list[str]:
        return sorted(path.rpartition("/")[2] for path in self.files if path.startswith(directory + "/"))

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        if path not in self.files:
            raise FileNotFoundError(path)
        octets = bytes(self.files[path])
        return octets[offset:] if length is None else octets[offset : offset + length]

    def size(self, path: str) -> int:
        return len(self.files[path])

    def open_append(self, path: str) -> MemoryFile:
        return MemoryFile(self, path)

    async def replace(self, path: str, octets: bytes) -> None:
        if self.fails or path == self.fails_at:
            raise OSError(5, "Input/output error", path)
        self.files[path] = bytearray(octets)
        self.durable[path] = octets

    async def move(self, path: str, to: str) -> None:
        if path not in self.files:
            raise FileNotFoundError(path)
        if self.fails:
            raise OSError(5, "Input/output error", path)
        self.files[to] = self.files.pop(path)
        self.durable[to] = self.durable.pop(path)

    def remove(self, path: str) -> None:
        if path not in self.files:
            raise FileNotFoundError(path)
        if self.removals_left == 0:
            raise MachineDied
        self.removals_left -= 1
        del self.files[path]
        self.durable.pop(path, None)

    def lose_power(self, torn: int = 0) -> None:
        """Up to `torn` octets of what was not synced are there all the same."""
        self.files = {
            path: bytearray(self.files[path][: len(octets) + torn])
            if bytes(self.files.get(path, b"")).startswith(octets)
            else bytearray(octets)
            for path, octets in self.durable.items()
        }
