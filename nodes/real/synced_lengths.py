"""Durable lengths of files, in one mapped file that outlives the process. A simulated power loss removes what lies beyond them.

`synced` begins with a magic and a format number, then slots: the durable length plus one (u64; 0 while not even the name is durable), the
length of the name (u16, written last; 0 for a free slot) and the name.
"""

from __future__ import annotations

import mmap
import os
import random
from collections.abc import Iterator
from pathlib import Path

from nodes.errors import Damaged
from nodes.format_number import of_other_version

NAME = "synced"
MAGIC = b"CLVRSYNC"
FORMAT = 1
SLOT = 256
NAME_AT = 10
NAME_MOST = SLOT - NAME_AT
SLOTS = 256
WHOLE = 1 << 62
"""Durable length of a file that is only ever replaced as a whole."""


class Synced:
    """The record of one directory, held by its server. Raises Damaged for a file of another kind, OSError.

    Its disk space is allocated before it is mapped: writing to a mapped file without space kills a process without an error.
    """

    def __init__(self, root: Path):
        path = root / NAME
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if is_blank(path):
                take_room(self._fd, SLOT * (SLOTS + 1))
                os.pwrite(self._fd, MAGIC + FORMAT.to_bytes(2, "little"), 0)
            size = os.fstat(self._fd).st_size
            check(path, os.pread(self._fd, SLOT, 0), size)
            take_room(self._fd, size)
            self._map()
        except (Damaged, OSError):
            os.close(self._fd)
            raise
        self._slots = dict(names(self._data))
        self._free = [slot for slot in range(self._count, 0, -1) if not self._used(slot)]

    def _map(self) -> None:
        self._data = mmap.mmap(self._fd, 0)
        self._lengths = memoryview(self._data).cast("Q")
        self._count = len(self._data) // SLOT - 1

    def _used(self, slot: int) -> bool:
        return self._data[slot * SLOT + 8 : slot * SLOT + 10] != b"\0\0"

    def slot_of(self, name: str, durable: int) -> int:
        """The slot of a file, a new one for an unknown file. `durable` is the length that is already durable; -1 when not even its name is.

        Raises ValueError for a name that is too long, OSError when there is no room for more names.
        """
        slot = self._slots.get(name)
        if slot is None:
            data = os.fsencode(name)
            if not 0 < len(data) <= NAME_MOST:
                raise ValueError(f"a file's name of {len(data)} bytes; {NAME_MOST} is the most")
            if not self._free:
                self._grow()
            slot = self._slots[name] = self._free.pop()
            self.keep(slot, durable)
            start = slot * SLOT + NAME_AT
            self._data[start : start + len(data)] = data
            self._data[start - 2 : start] = len(data).to_bytes(2, "little")
        return slot

    def keep(self, slot: int, durable: int) -> None:
        self._lengths[slot * (SLOT // 8)] = durable + 1

    def limit(self, slot: int, size: int) -> None:
        """Limits the durable length to the file's size. The file was written as a whole, or cut by a process that was killed before it recorded
        this."""
        at = slot * (SLOT // 8)
        self._lengths[at] = min(self._lengths[at], size + 1)

    def rename(self, name: str, to: str) -> None:
        """Keeps the durable length of a file under its new name."""
        slot = self._slots.get(name)
        if slot is not None:
            durable = self._lengths[slot * (SLOT // 8)] - 1
            self.forget(name)
            self.keep(self.slot_of(to, durable), durable)

    def forget(self, name: str) -> None:
        slot = self._slots.pop(name, None)
        if slot is not None:
            self._data[slot * SLOT + 8 : slot * SLOT + 10] = b"\0\0"
            self._free.append(slot)

    def _grow(self) -> None:
        before = self._count
        take_room(self._fd, SLOT * (2 * before + 1))
        self._lengths.release()
        self._data.close()
        self._map()
        self._free = list(range(self._count, before, -1))


def take_room(fd: int, size: int) -> None:
    """Gives the file at least so many bytes, with disk space for each. Raises OSError.

    macOS has no such call; there a file's holes are filled by hand, and its content stays.
    """
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(fd, 0, size)
        return
    there = os.pread(fd, size, 0)
    os.pwrite(fd, there + bytes(size - len(there)), 0)


def is_blank(path: Path) -> bool:
    """Nothing was ever recorded: the file was created when the disk had no space for it."""
    return path.stat().st_size <= SLOT * (SLOTS + 1) and not path.read_bytes().strip(b"\0")


def check(path: Path, head: bytes, size: int) -> None:
    """Raises Damaged."""
    if head[:8] != MAGIC or size % SLOT:
        raise Damaged(
            f"{path} is no record of what is synced: it begins with {head[:8]!r} and has {size} bytes"
        )
    number = int.from_bytes(head[8:10], "little")
    if number != FORMAT:
        raise Damaged(f"{path} {of_other_version(number, FORMAT)}")


def names(data: bytes | mmap.mmap) -> Iterator[tuple[str, int]]:
    """(name, slot) of every file that is recorded."""
    for start in range(SLOT, len(data), SLOT):
        length = int.from_bytes(data[start + 8 : start + 10], "little")
        if 0 < length <= NAME_MOST:
            yield os.fsdecode(bytes(data[start + NAME_AT : start + NAME_AT + length])), start // SLOT


def lose_power(root: Path, rng: random.Random | None = None) -> list[str]:
    """Removes data that a killed server had not synced; returns a line for each file that lost data.

    A part of the unsynced bytes chosen by `rng` remains, torn anywhere; without `rng` none does. Files that the record does not contain stay
    unchanged. Raises Damaged, OSError.
    """
    path = root / NAME
    if not path.exists() or is_blank(path):
        return []
    data = path.read_bytes()
    check(path, data, len(data))
    reported: list[str] = []
    for name, slot in sorted(names(data)):
        durable = int.from_bytes(data[slot * SLOT : slot * SLOT + 8], "little") - 1
        reported += cut_back(root / name, name, durable, rng)
    return reported


def cut_back(path: Path, name: str, durable: int, rng: random.Random | None) -> list[str]:
    try:
        size = path.stat().st_size
        if durable < 0:
            path.unlink()
            return [f"{name}: its name was not synced"]
        if size <= durable:
            return []
        left = rng.randint(durable, size) if rng is not None else durable
        os.truncate(path, left)
        return [f"{name}: {size - left} of {size} bytes were not synced"]
    except FileNotFoundError:
        return []
