"""An inode, and the two terms by which an inode and a dentry enter the digest."""

from __future__ import annotations

from functools import lru_cache

import msgspec

MASK = (1 << 64) - 1
NO_NAMES: dict[str, int] = {}
"""What every directory without entries shares; never changed."""


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
    """Names of a file, wherever they are; 1 for a directory."""
    entries: dict[str, int] | None
    """Dentries: name to the child's inode number, whose high bits name the child's home group."""

    @property
    def attributes_term(self) -> int:
        """Order and process do not matter: integers hash to the same value everywhere."""
        owner = self.owner if self.owner == self.group else f"{self.owner}\0{self.group}"
        return hash((self.number, self.mtime_ns)) + hash(
            (
                self.number,
                self.entries is None,
                self.mode,
                self.atime_ns,
                text_key(owner),
                self.replication,
                self.length,
                self.nlink,
            )
        )

    def touch(self, at_ns: int) -> int:
        """Sets mtime; returns by how much the term changes."""
        before, self.mtime_ns = self.mtime_ns, at_ns
        return hash((self.number, at_ns)) - hash((self.number, before))


def dentry_term(parent: int, name: str, child: int) -> int:
    return hash((parent, int.from_bytes(name.encode(), "little"), len(name), child))


@lru_cache(maxsize=1024)
def text_key(text: str) -> int:
    """A hash for a text that many inodes share, the same in every process."""
    return hash(int.from_bytes(b"\1" + text.encode(), "little"))
