"""How much of each file is durable, in one mapped file that outlives the process: what a power loss takes is known by it.

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
    """The record of one directory, held by its server. Raises Damaged for a file that is none of ours, OSError.

    Its room on the disk is taken before it is mapped: writing to a mapped file for which there is no room ends a process without a word.
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
        self._slots = dict(names(self._octets))
        self._free = [slot for slot in range(self._count, 0, -1) if not self._used(slot)]

    def _map(self) -> None:
        self._octets = mmap.mmap(self._fd, 0)
        self._lengths = memoryview(self._octets).cast("Q")
        self._count = len(self._octets) // SLOT - 1

    def _used(self, slot: int) -> bool:
        return self._octets[slot * SLOT + 8 : slot * SLOT + 10] != b"\0\0"

    def slot_of(self, name: str, durable: int) -> int:
        """Of a file that is known, else a new one. `durable` is what is already durable of it; -1 when not even its name is.

        Raises ValueError for a name that is too long, OSError when there is no room for more names.
        """
        slot = self._slots.get(name)
        if slot is None:
            octets = os.fsencode(name)
            if not 0 < len(octets) <= NAME_MOST:
                raise ValueError(f"a file's name of {len(octets)} octets; {NAME_MOST} is the most")
            if not self._free:
                self._grow()
            slot = self._slots[name] = self._free.pop()
            self.keep(slot, durable)
            start = slot * SLOT + NAME_AT
            self._octets[start : start + len(octets)] = octets
            self._octets[start - 2 : start] = len(octets).to_bytes(2, "little")
        return slot

    def keep(self, slot: int, durable: int) -> None:
        self._lengths[slot * (SLOT // 8)] = durable + 1

    def limit(self, slot: int, size: int) -> None:
        """No more than the file has: it was written as a whole, or cut by a life that was killed before it could say so."""
        at = slot * (SLOT // 8)
        self._lengths[at] = min(self._lengths[at], size + 1)

    def rename(self, name: str, to: str) -> None:
        """What is durable of the file stays so under its new name."""
        slot = self._slots.get(name)
        if slot is not None:
            durable = self._lengths[slot * (SLOT // 8)] - 1
            self.forget(name)
            self.keep(self.slot_of(to, durable), durable)

    def forget(self, name: str) -> None:
        slot = self._slots.pop(name, None)
        if slot is not None:
            self._octets[slot * SLOT + 8 : slot * SLOT + 10] = b"\0\0"
            self._free.append(slot)

    def _grow(self) -> None:
        before = self._count
        take_room(self._fd, SLOT * (2 * before + 1))
        self._lengths.release()
        self._octets.close()
        self._map()
        self._free = list(range(self._count, before, -1))


def take_room(fd: int, size: int) -> None:
    """The file has so many octets at least, and room for each on the disk. Raises OSError.

    macOS has no such call; there a file's holes are filled by hand, and what is in it stays.
    """
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(fd, 0, size)
        return
    there = os.pread(fd, size, 0)
    os.pwrite(fd, there + bytes(size - len(there)), 0)


def is_blank(path: Path) -> bool:
    """Nothing was ever recorded: it was begun when there was no room for it."""
    return path.stat().st_size <= SLOT * (SLOTS + 1) and not path.read_bytes().strip(b"\0")


def check(path: Path, head: bytes, size: int) -> None:
    """Raises Damaged."""
    if head[:8] != MAGIC or size % SLOT:
        raise Damaged(
            f"{path} is no record of what is synced: it begins with {head[:8]!r} and has {size} octets"
        )
    number = int.from_bytes(head[8:10], "little")
    if number != FORMAT:
        raise Damaged(f"{path} has format {number}; this version reads format {FORMAT}")


def names(octets: bytes | mmap.mmap) -> Iterator[tuple[str, int]]:
    """(name, slot) of every file that is recorded."""
    for start in range(SLOT, len(octets), SLOT):
        length = int.from_bytes(octets[start + 8 : start + 10], "little")
        if 0 < length <= NAME_MOST:
            yield os.fsdecode(bytes(octets[start + NAME_AT : start + NAME_AT + length])), start // SLOT


def lose_power(root: Path, rng: random.Random | None = None) -> list[str]:
    """Takes what a killed server had not synced; a line for each file that lost something.

    Of unsynced octets a part chosen by `rng` is left, torn anywhere; none without it. Files that the record does not know stay as they
    are. Raises Damaged, OSError.
    """
    path = root / NAME
    if not path.exists() or is_blank(path):
        return []
    octets = path.read_bytes()
    check(path, octets, len(octets))
    told: list[str] = []
    for name, slot in sorted(names(octets)):
        durable = int.from_bytes(octets[slot * SLOT : slot * SLOT + 8], "little") - 1
        told += cut_back(root / name, name, durable, rng)
    return told


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
        return [f"{name}: {size - left} of {size} octets were not synced"]
    except FileNotFoundError:
        return []
