"""Macrobenchmark2's mix of calls (DCFS2 §5.1.2), as far as metadata servers notice it: who reads or writes a file asks none of them."""

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
"""Per cent of all calls; the rest is read (25.67) and write (12.83)."""


class Item(msgspec.Struct, frozen=True, gc=False):
    """A directory or a file; `directory` is its own number, or that of a file's parent."""

    path: str
    directory: int
    is_file: bool


class Mix:
    """What one caller does, on its client's part of a namespace that is there; what it removes it has made itself."""

    def __init__(self, part: list[Item], caller: str, rng: random.Random):
        self._files = [item.path for item in part if item.is_file]
        self._directories = [item.path for item in part if not item.is_file] or ["/"]
        self._caller = caller
        self._rng = rng
        self._made: dict[bool, list[str]] = {True: [], False: []}
        """Files and directories."""
        self._number = 0

    def draw(self) -> Operation:
        """The next call; one that would remove something makes something while there is nothing."""
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
