"""An inode, and the terms by which an inode and a dentry enter the digest (nodes/metadata/digest.py)."""

from __future__ import annotations

import msgspec

from nodes.metadata.digest import DIRECTORY, FILE, NAME, mtime_factor, term

NO_NAMES: dict[str, int] = {}
"""The shared entries of every directory without any; never changed."""


class Inode(msgspec.Struct, gc=False):
    """A file, or a directory when `entries` is not None."""

    number: int
    mode: int
    mtime_ns: int
    atime_ns: int
    owner: str
    group: str
    replication: int
    length: int
    nlink: int
    """Number of names of a file, in all groups; 1 for a directory."""
    entries: dict[str, int] | None
    """Dentries: name to the child's inode number, whose high bits name the child's home group."""

    @property
    def attributes_term(self) -> int:
        """Digest term of the inode without its names."""
        if self.entries is None:
            return term(
                (
                    FILE, self.number, self.mode, self.mtime_ns, self.atime_ns, self.owner, self.group, self.replication,
                    self.length, self.nlink,
                )
            )  # fmt: skip
        attributes = term(
            (
                DIRECTORY, self.number, self.mode, self.atime_ns, self.owner, self.group, self.replication, self.length,
                self.nlink,
            )
        )  # fmt: skip
        return attributes + self.mtime_ns * mtime_factor(self.number)

    def touch(self, at_ns: int) -> int:
        """Sets the mtime of a directory; returns the difference of its digest term."""
        before, self.mtime_ns = self.mtime_ns, at_ns
        return (at_ns - before) * mtime_factor(self.number)


def dentry_term(parent: int, name: str, child: int) -> int:
    return term((NAME, parent, name, child))
