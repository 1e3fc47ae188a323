"""Which partition of an image an inode belongs to (VSSP §III.D, Algorithm 1).

The paper hashes path names; our inodes know none. A directory goes by its own inode number and a file by its parent directory's, so that a
directory, its dentries and its files lie in one partition.
"""

from __future__ import annotations

from nodes.metadata.paths import split
from nodes.metadata.tree import Tree
from nodes.units import ROOT

PARTITIONS_MOST = 64
GOLDEN = 0x9E3779B97F4A7C15
"""Spreads neighbouring numbers (Knuth's multiplicative hash)."""


def partition_of(number: int, partitions: int) -> int:
    """Algorithm 1 lines 7 and 10: the hash of a directory's inode number, modulo the partition count."""
    return (((number * GOLDEN) & 0xFFFFFFFFFFFFFFFF) >> 32) % partitions


def needed_for(tree: Tree, path: str, partitions: int, loaded: set[int]) -> int | None:
    """The partition that a lookup needs next when only `loaded` ones are in the tree; None when it needs no more.

    Raises FsError of a malformed path.
    """
    number = ROOT
    for name in split(path):
        partition = partition_of(number, partitions)
        if partition not in loaded:
            return partition
        inode = tree.inodes.get(number)
        child = None if inode is None or inode.entries is None else inode.entries.get(name)
        if child is None:
            return None
        number = child
    partition = partition_of(number, partitions)
    return None if number in tree.inodes or partition in loaded else partition
