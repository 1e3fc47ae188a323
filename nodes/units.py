"""Types that every layer uses: of calls, inodes and disks."""

from __future__ import annotations

import msgspec

GROUP_SHIFT = 48
"""The high 16 bits of an inode's number name its home group (DCFS2 §2.1.3)."""
DIRECTORY = 1 << 47
INCARNATION_SHIFT = 32
"""Each incarnation of the cluster allocates its own share of the numbers of inodes, moves and distributed operations."""
ROOT_GROUP = 1
ROOT = ROOT_GROUP << GROUP_SHIFT | DIRECTORY | 1


class OpId(msgspec.Struct, frozen=True, array_like=True, order=True, gc=False):
    """Identifies one call of one client for ever: a retry carries the same."""

    client: str
    number: int


class DiskId(msgspec.Struct, frozen=True, array_like=True):
    """`before`: earlier instance numbers of the disk, oldest first, since it had all that it ever acknowledged; empty while it has it all."""

    instance: int
    before: tuple[int, ...] = ()


def home_group(inode: int) -> int:
    """The number of this inode's home group."""
    return inode >> GROUP_SHIFT


def is_directory(inode: int) -> bool:
    return bool(inode & DIRECTORY)
