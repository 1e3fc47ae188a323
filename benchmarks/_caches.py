"""An inode cache of limited size in front of every metadata server's namespace: the namespace is in memory, and the cache counts the blocks that
it would have read.

The servers' own code runs unchanged; only their mapping from numbers to inodes is replaced by one that counts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import nodes.metadata.namespace
from nodes.metadata.inode import Inode
from nodes.metadata.tree import Tree
from nodes.units import DIRECTORY

INODES_PER_BLOCK = 32
"""Inodes of 128 bytes in a block of 4 KiB, as in the paper's ext3."""


class InodeCache:
    """A cache of blocks that evicts the least recently used inodes (DCFS2 §5.1.3), with their block on the disk."""

    def __init__(self, capacity: int):
        self.capacity = max(1, capacity // INODES_PER_BLOCK)
        """Capacity in blocks."""
        self._held: dict[int, bool] = {}
        """Blocks in the cache, the least recently used first; true for a block that must be written on eviction."""
        self._on_disk: set[int] = set()
        self.reads = 0
        self.writes = 0
        self._reported = 0

    def touch(self, number: int) -> None:
        """Records the lookup of an existing inode."""
        self._hold(block_of(number), False)

    def change(self, number: int) -> None:
        """Records the creation or removal of an inode."""
        self._hold(block_of(number), True)

    def _hold(self, block: int, changed: bool) -> None:
        before = self._held.pop(block, None)
        if before is None and block in self._on_disk:
            self.reads += 1
        self._held[block] = bool(before) or changed
        if len(self._held) > self.capacity:
            oldest = next(iter(self._held))
            if self._held.pop(oldest):
                self.writes += 1
                self._on_disk.add(oldest)

    def news(self) -> int:
        """Reads and writes of the disk since the last call."""
        total = self.reads + self.writes
        news, self._reported = total - self._reported, total
        return news


def block_of(number: int) -> int:
    """Block of an inode: files and directories share one numbering, in the order of their creation."""
    return (number & ~DIRECTORY) // INODES_PER_BLOCK


class WatchedInodes(dict[int, Inode]):
    """The inodes of one group; every lookup passes through the cache."""

    def __init__(self, inodes: dict[int, Inode], cache: InodeCache):
        super().__init__(inodes)
        self._cache = cache
        for number in inodes:
            cache.change(number)

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
        self._cache.change(number)

    def __delitem__(self, number: int) -> None:
        super().__delitem__(number)
        self._cache.change(number)


@contextlib.contextmanager
def watched(capacity: int) -> Iterator[dict[int, tuple[Tree, InodeCache]]]:
    """Gives every namespace that is created inside the context a cache of `capacity` inodes; the result is by number of the group."""
    found: dict[int, tuple[Tree, InodeCache]] = {}

    class WatchedTree(Tree):
        def __init__(self, group: int, dentry_locks_only: bool = False, promises_across_moves: bool = False):
            super().__init__(group, dentry_locks_only, promises_across_moves)
            cache = InodeCache(capacity)
            self.inodes = WatchedInodes(self.inodes, cache)
            found[group] = self, cache

    nodes.metadata.namespace.Tree = WatchedTree  # type: ignore[attr-defined]
    try:
        yield found
    finally:
        nodes.metadata.namespace.Tree = Tree  # type: ignore[attr-defined]
