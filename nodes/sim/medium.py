"""The content of a simulated disk: files, their durable parts, and all possible faults."""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Callable
from typing import NamedTuple

from nodes.faults.table import TORN
from nodes.sim.conditions import CALM, CAPACITY, Conditions

SECTOR = 512
LEFT_BEHIND = ".new"
"""Suffix of the file that an interrupted `replace` leaves."""


class MediumFile:
    """A file's bytes as its server reads them, and the part that is on the medium."""

    __slots__ = ("before", "cut_to", "cuts", "data", "dropped", "durable")

    def __init__(self) -> None:
        self.data = bytearray()
        self.durable = -1
        """Number of durable bytes; -1 while not even the name is durable."""
        self.before = b""
        """Durable content as long as a truncation is not durable."""
        self.dropped: list[tuple[int, int]] = []
        """Ranges that a failed sync dropped: reads return them as written, but no later sync writes them to the medium."""
        self.cuts = 0
        self.cut_to = 0

    def cut(self, size: int) -> None:
        """Truncates the file to `size`; the medium is truncated with the next sync."""
        if size < self.durable and not self.before:
            self.before = bytes(self.data[: self.durable])
        del self.data[size:]
        self.durable = min(self.durable, size)
        self.dropped = [(start, min(end, size)) for start, end in self.dropped if start < size]
        self.cuts += 1
        self.cut_to = size

    def synced(self, size: int, cuts: int) -> None:
        """Ends a sync that began with so many bytes, after so many cuts."""
        if cuts != self.cuts:
            size = min(size, self.cut_to)
        else:
            self.before = b""
        self.durable = max(self.durable, min(size, len(self.data)))

    def sync_failed(self, size: int) -> None:
        start = max(0, self.durable)
        if start < size:
            self.dropped.append((start, min(size, len(self.data))))

    def lose_power(self, torn: str, rng: random.Random) -> bool:
        """Keeps the durable content; False when not even the name is left."""
        if self.durable < 0 and (
            torn != "everything" and (torn in ("prefix", "nothing") or rng.random() < 0.5)
        ):
            return False
        if self.before and rng.random() < 0.5:
            self.data[:] = self.before
        else:
            self._tear(torn, rng)
        self.durable = len(self.data)
        self.before = b""
        self.dropped = []
        return True

    def _tear(self, torn: str, rng: random.Random) -> None:
        safe, size = max(0, self.durable), len(self.data)
        for start, end in self.dropped:
            self._lose(start, end)
        if torn == "prefix":
            size = rng.randint(safe, size) if size > safe else size
        elif torn == "nothing":
            size = safe
        elif torn == "zeros":
            self._lose(safe, size)
        elif torn == "sectors":
            size = rng.choice((size, rng.randint(safe, size)))
            for start in range(safe - safe % SECTOR, size, SECTOR):
                if rng.random() < 0.5:
                    self._lose(max(start, safe), min(start + SECTOR, size))
        del self.data[size:]

    def _lose(self, start: int, end: int) -> None:
        """These bytes never reached the medium: reads return the earlier content, or zeros."""
        old = self.before[start:end]
        self.data[start:end] = old + bytes(end - start - len(old))


class NameChange(NamedTuple):
    """A file was renamed or replaced."""

    directories: set[str]
    undo: Callable[[random.Random], None]


def directory_of(path: str) -> str:
    return path.rpartition("/")[0]


class MediumStore:
    """The medium of one server; it outlives the server's processes."""

    def __init__(
        self,
        rng: random.Random,
        conditions: Conditions = CALM,
        at_sync: Callable[[str, str], bool] = lambda when, path: False,
    ):
        """`at_sync`: called with ("before" or "after", path) of each sync; whether it injected a fault."""
        self.rng = rng
        """Random numbers for the duration of syncs."""
        self._conditions = conditions
        self._seed = rng.getrandbits(64)
        self.files: dict[str, MediumFile] = {}
        self.slow_ns = 0
        self.slow_spread_ns = 0
        self.slow_share = 1.0
        """Share of slow syncs."""
        self.fails = False
        """Whether every access fails."""
        self.failing: dict[str, int] = {}
        """Kind of access to its number of remaining failures; below 0 while the fault stands."""
        self.capacity = conditions.disk_capacity
        self.synced: dict[str, int] = {}
        """Number of file syncs, by the first part of the path."""
        self.bytes_read = 0
        self.at_sync = at_sync
        self.unsynced: list[NameChange] = []
        """What killed processes have renamed or replaced in directories not synced since, in order. A power loss may undo the last ones."""
        self.unfinished: dict[int, Callable[[random.Random], None]] = {}
        """Calls that change names and have not returned: the medium may or may not have their effect."""
        self._calls = 0

    # --- names that are being changed ------------------------------------------------------------------------------

    def begin(self, happen: Callable[[random.Random], None]) -> int:
        """Begins a call that a crash may leave done, undone or half done: `happen` draws the outcome."""
        self._calls += 1
        self.unfinished[self._calls] = happen
        return self._calls

    def end(self, call: int) -> bool:
        """Whether the call must still be carried out: no crash has decided it."""
        return self.unfinished.pop(call, None) is not None

    def put(self, path: str, file: MediumFile) -> None:
        """Gives a name to this file. Its directory is not synced."""
        old = self.files.pop(path, None)
        self.files[path] = file

        def undo(rng: random.Random) -> None:
            if self.files.get(path) is file:
                self.files.pop(path, None)
                if old is not None and old.lose_power("nothing", rng):
                    self.files[path] = old

        self.unsynced.append(NameChange({directory_of(path)}, undo))

    def rename(self, path: str, to: str) -> None:
        """Renames a file, if it is there. The directories are not synced."""
        file, old = self.files.pop(path, None), self.files.get(to)
        if file is None:
            return
        self.files[to] = file

        def undo(rng: random.Random) -> None:
            if self.files.get(to) is file:
                self.files[path] = self.files.pop(to)
                if old is not None and old.lose_power("nothing", rng):
                    self.files[to] = old

        self.unsynced.append(NameChange({directory_of(path), directory_of(to)}, undo))

    def directories_synced(self, *paths: str) -> None:
        """The directories of these files are synced: what was changed in them is durable."""
        synced = {directory_of(path) for path in paths}
        self.unsynced = [change for change in self.unsynced if not change.directories & synced]

    def _lose_names(self, torn: str, rng: random.Random) -> None:
        """Undoes the last changes of names, as many as are drawn: a file system keeps their order."""
        changes, self.unsynced = self.unsynced, []
        kept = {"nothing": 0, "everything": len(changes)}.get(torn)
        for change in reversed(changes[rng.randint(0, len(changes)) if kept is None else kept :]):
            change.undo(rng)

    def stream(self, at_ns: int) -> random.Random:
        """Random numbers for one fault at one time."""
        return random.Random(f"{self._seed}/{at_ns}")

    def crash(self, rng: random.Random) -> None:
        """The process dies: calls that change names stop at any point."""
        unfinished, self.unfinished = self.unfinished, {}
        for happen in unfinished.values():
            happen(rng)

    def lose_power(self, torn: str = "prefix", at_ns: int = 0) -> None:
        """Loses bytes that were not synced; `torn` selects which of them remain."""
        rng = self.stream(at_ns)
        self.crash(rng)
        for path, file in list(self.files.items()):
            mode = rng.choice(TORN[:-1]) if torn == "any" else torn
            if not file.lose_power(mode, rng):
                del self.files[path]
        if self.unsynced:
            self._lose_names(rng.choice(TORN[:-1]) if torn == "any" else torn, rng)

    def replace_medium(self) -> None:
        """Inserts a new, empty disk without faults."""
        self.files.clear()
        self.unsynced.clear()
        self.unfinished.clear()
        self.mend()

    def mend(self) -> None:
        """Ends every fault; damaged or lost data stays so."""
        self.slow_ns = self.slow_spread_ns = 0
        self.slow_share = 1.0
        self.fails = False
        self.failing.clear()
        self.capacity = self._conditions.disk_capacity

    # --- access ----------------------------------------------------------------------------------------------------

    def check(self, path: str, *kinds: str) -> None:
        """Raises OSError when an access of one of these kinds fails now."""
        if self.fails or (self.failing and any([self._fails_now(kind) for kind in (*kinds, "all")])):
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)

    def _fails_now(self, kind: str) -> bool:
        left = self.failing.get(kind, 0)
        if left > 0:
            self.failing[kind] = left - 1
        return left != 0

    def used(self) -> int:
        return sum(len(file.data) for file in self.files.values())

    def free(self) -> int:
        return max(0, self.capacity - self.used())

    def take(self, path: str, size: int) -> None:
        """Takes room for so many bytes. Raises OSError."""
        if self.capacity < CAPACITY and size > self.free():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)

    def sync_ns(self) -> int:
        latency_ns = self._conditions.sync.draw_ns(self.rng)
        if self.slow_share < 1 and self.rng.random() >= self.slow_share:
            return latency_ns
        if self.slow_spread_ns:
            latency_ns += int(self.rng.random() * self.slow_spread_ns)
        return latency_ns + self.slow_ns
