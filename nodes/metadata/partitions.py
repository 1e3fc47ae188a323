"""The partition of an image to which an inode belongs (VSSP §III.D, Algorithm 1).

The paper hashes path names, but these inodes have no paths. A directory is placed by its own inode number and a file by its parent
directory's. So a directory, its dentries and its files lie in one partition.
"""

from __future__ import annotations

PARTITIONS_MOST = 64
GOLDEN = 0x9E3779B97F4A7C15
"""Multiplier that spreads neighbouring numbers (Knuth's multiplicative hash)."""


def partition_of(number: int, partitions: int) -> int:
    """Algorithm 1 lines 7 and 10: the hash of a directory's inode number, modulo the partition count."""
    return (((number * GOLDEN) & 0xFFFFFFFFFFFFFFFF) >> 32) % partitions
