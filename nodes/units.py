"""Quantities that must not be mixed, as types of their own."""

from __future__ import annotations

from typing import NewType

import msgspec

Sn = NewType("Sn", int)
"""Serial number of a journal group; dense, from 1."""
Epoch = NewType("Epoch", int)
"""Counts the upgrades of a replica group, from 1; 0 before the first."""
InodeNo = NewType("InodeNo", int)
"""The high 16 bits name the home group (DCFS2 §2.1.3), the next one is set for directories."""
Nanos = NewType("Nanos", int)

GROUP_SHIFT = 48
DIRECTORY = 1 << 47
INCARNATION_SHIFT = 32
"""Each incarnation of the cluster gives away its own share of the numbers of inodes, moves and distributed operations."""
ROOT_GROUP = 1
ROOT = ROOT_GROUP << GROUP_SHIFT | DIRECTORY | 1


class OpId(msgspec.Struct, frozen=True, array_like=True, order=True, gc=False):
    """Names one call of one client for ever: a retry carries the same."""

    client: str
    number: int


def home_group(inode: int) -> int:
    """The number of the group that is home to this inode."""
    return inode >> GROUP_SHIFT


def is_directory(inode: int) -> bool:
    return bool(inode & DIRECTORY)
