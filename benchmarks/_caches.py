"""An inode cache of limited size before every metadata server's namespace, which is all in memory: what it would have had to fetch.

The servers' own code runs unchanged; only the mapping from numbers to inodes in which it looks them up is one that counts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import nodes.metadata.namespace
from nodes.metadata.inode import Inode
from nodes.metadata.tree import Tree


class InodeCache:
    """Least recently used inodes go first (DCFS2 §5.1.3)."""

    def __init__(self, capacity: int):
        self.capacity = capacity
        self._held: dict[int, bool] = {}
        """The inodes in the cache, the one longest unused first, and which of them were never written."""
        self.reads = 0
        self.writes = 0
        self._told = 0

    def touch(self, number: int) -> None:
        """An inode that exists is looked up."""
        new = self._held.pop(number, None)
        if new is None:
            self.reads += 1
        self._hold(number, bool(new))

    def make(self, number: int) -> None:
        """An inode is made here; it is on disk once it has been pushed out."""
        self._held.pop(number, None)
        self._hold(number, True)

    def drop(self, number: int) -> None:
        """An inode is gone."""
        self._held.pop(number, None)

    def _hold(self, number: int, new: bool) -> None:
        self._held[number] = new
        if len(self._held) > self.capacity:
            oldest = next(iter(self._held))
            self.writes += self._held.pop(oldest)

    def news(self) -> int:
        """Reads and writes of the disk since it was last asked."""
        total = self.reads + self.writes
        news, self._told = total - self._told, total
        return news


class WatchedInodes(dict[int, Inode]):
    """The inodes of one group; every look at one passes through the cache."""

    def __init__(self, inodes: dict[int, Inode], cache: InodeCache):
        super().__init__(inodes)
        self._cache = cache
        for number in inodes:
            cache.make(number)

    def __getitem__(self, number: int) -> Inode:
        inode = super().__getitem__(number)
        self._cache.touch(number)
        return inode

    def get(self, number: int, default: Inode | None = None) -> Inode | None:  # type: ignore[override]
        inode = super().get(number)
        if inode is None:
            return default
        self._cache.touch(number)
        return inode

    def __setitem__(self, number: int, inode: Inode) -> None:
        super().__setitem__(number, inode)
        self._cache.make(number)

    def __delitem__(self, number: int) -> None:
        super().__delitem__(number)
        self._cache.drop(number)


@contextlib.contextmanager
def watched(capacity: int) -> Iterator[dict[int, tuple[Tree, InodeCache]]]:
    """Every group's namespace that is begun inside has a cache of so many inodes; by number of the group."""
    found: dict[int, tuple[Tree, InodeCache]] = {}

    class WatchedTree(Tree):
        def __init__(self, group: int):
            super().__init__(group)
            cache = InodeCache(capacity)
            self.inodes = WatchedInodes(self.inodes, cache)
            found[group] = self, cache

    nodes.metadata.namespace.Tree = WatchedTree  # type: ignore[attr-defined]
    try:
        yield found
    finally:
        nodes.metadata.namespace.Tree = Tree  # type: ignore[attr-defined]
