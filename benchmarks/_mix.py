"""Macrobenchmark2's mix of calls (DCFS2 §5.1.2), without reads and writes of file content, which reach no metadata server."""

from __future__ import annotations

import random

import msgspec

from nodes.metadata.operations import Create, Delete, List, Mkdir, Operation, Stat

SHARES = {
    "create": 5.55,
    "mkdir": 1.71,
    "open": 35.45,
    "stat": 9.98,
    "readdir": 7.70,
    "remove": 1.07,
    "rmdir": 0.04,
}
"""Shares of the metadata calls in per cent of all calls; the rest is read (25.67) and write (12.83)."""


class Item(msgspec.Struct, frozen=True, gc=False):
    """A directory or a file; `directory` is its own number, or that of a file's parent."""

    path: str
    directory: int
    is_file: bool


class Mix:
    """Calls of one caller on its client's part of an existing namespace; it removes only what it has created."""

    def __init__(self, part: list[Item], caller: str, rng: random.Random):
        self._files = [item.path for item in part if item.is_file]
        self._directories = [item.path for item in part if not item.is_file] or ["/"]
        self._caller = caller
        self._rng = rng
        self._made: dict[bool, list[str]] = {True: [], False: []}
        """Created directories (True) and files (False)."""
        self._number = 0

    def draw(self) -> Operation:
        """The next call; a removal becomes a creation while there is nothing to remove."""
        [kind] = self._rng.choices(list(SHARES), list(SHARES.values()))
        choice = self._rng.choice
        match kind:
            case "open" | "stat":
                return Stat(choice(self._files or self._directories))
            case "readdir":
                return List(choice(self._directories))
            case "remove" | "rmdir" if self._made[kind == "remove"]:
                return Delete(self._made[kind == "remove"].pop())
        is_file = kind in ("create", "remove")
        self._number += 1
        path = f"{choice(self._directories).rstrip('/')}/{self._caller}-{self._number}"
        self._made[is_file].append(path)
        return Create(path) if is_file else Mkdir(path)
