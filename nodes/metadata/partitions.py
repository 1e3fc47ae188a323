"""Which partition of an image an inode belongs to (VSSP §III.D, Algorithm 1).

The paper hashes path names; our inodes know none. A directory goes by its own inode number and a file by its parent directory's, so that a
directory, its dentries and its files lie in one partition.
"""

from __future__ import annotations

PARTITIONS_MOST = 64
GOLDEN = 0x9E3779B97F4A7C15
"""Spreads neighbouring numbers (Knuth's multiplicative hash)."""


def partition_of(number: int, partitions: int) -> int:
    """Algorithm 1 lines 7 and 10: the hash of a directory's inode number, modulo the partition count."""
    return (((number * GOLDEN) & 0xFFFFFFFFFFFFFFFF) >> 32) % partitions
