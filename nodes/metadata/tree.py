"""The inodes and dentries of one namespace, with the digest that follows every change of them in constant time.

Each change can be told to an `undo` list as (function, arguments…); calling these in reverse order takes it back exactly.
"""

from __future__ import annotations

from typing import Any

from nodes.metadata.blocks import Bodies
from nodes.metadata.inode import MASK, NO_NAMES, Inode, dentry_term
from nodes.units import GROUP_SHIFT

Undo = list[Any] | None
OWNER = "clover"


class Tree:
    """Everything below the root of one group."""

    def __init__(self, group: int):
        number = (group << GROUP_SHIFT) | 1
        self.root = Inode(number, 0o755, 0, 0, OWNER, OWNER, 0, 0, NO_NAMES)
        self.inodes = {number: self.root}
        self.next_number = number + 1
        self.digest = self.root.attributes_term & MASK
        self.bodies = Bodies(group)

    def recompute_digest(self) -> int:
        """The digest made anew from every entry."""
        total = 0
        for inode in self.inodes.values():
            total += inode.attributes_term
            for name, child in (inode.entries or NO_NAMES).items():
                total += dentry_term(inode.number, name, child)
        return total & MASK

    # --- changes ---------------------------------------------------------------------------------------------------

    def make(
        self, parent: Inode, name: str, number: int, directory: bool, mode: int, at_ns: int, undo: Undo
    ) -> Inode:
        """Links a new inode; the parent's mtime is now."""
        entries = NO_NAMES if directory else None
        inode = Inode(number, mode, at_ns, at_ns, OWNER, OWNER, 0 if directory else 3, 0, entries)
        if undo is not None:
            undo.append((self._unmake, parent, name, number, self.next_number, self.digest, parent.mtime_ns))
        self.inodes[number] = inode
        self.next_number = number + 1
        if parent.entries is NO_NAMES:
            parent.entries = {name: number}
        else:
            parent.entries[name] = number  # type: ignore[index]
        self.digest = (
            self.digest
            + parent.touch(at_ns)
            + inode.attributes_term
            + dentry_term(parent.number, name, number)
        ) & MASK
        return inode

    def _unmake(
        self, parent: Inode, name: str, number: int, next_number: int, digest: int, mtime_ns: int
    ) -> None:
        del self.inodes[number]
        self._drop(parent, name)
        self.next_number, self.digest, parent.mtime_ns = next_number, digest, mtime_ns

    def remove(self, parent: Inode, name: str, at_ns: int, undo: Undo) -> None:
        """Unlinks a name and forgets everything below it."""
        assert parent.entries is not None
        number = parent.entries[name]
        gone = self._below(number)
        if undo is not None:
            undo.append((self._unremove, parent, name, gone, self.digest, parent.mtime_ns))
        self.bodies.drop((inode.number for inode in gone), undo)
        lost = dentry_term(parent.number, name, number)
        for inode in gone:
            del self.inodes[inode.number]
            lost += inode.attributes_term
            if inode.entries:
                lost += sum(dentry_term(inode.number, below, child) for below, child in inode.entries.items())
        self._drop(parent, name)
        self.digest = (self.digest - lost + parent.touch(at_ns)) & MASK

    def _unremove(self, parent: Inode, name: str, gone: list[Inode], digest: int, mtime_ns: int) -> None:
        for inode in gone:
            self.inodes[inode.number] = inode
        self._put(parent, name, gone[0].number)
        self.digest, parent.mtime_ns = digest, mtime_ns

    def move(self, old: Inode, old_name: str, new: Inode, new_name: str, at_ns: int, undo: Undo) -> None:
        """Gives an inode another name, which nobody has."""
        assert old.entries is not None
        number = old.entries[old_name]
        if undo is not None:
            undo.append(
                (self._unmove, old, old_name, new, new_name, number, self.digest, old.mtime_ns, new.mtime_ns)
            )
        change = dentry_term(new.number, new_name, number) - dentry_term(old.number, old_name, number)
        self._drop(old, old_name)
        self._put(new, new_name, number)
        self.digest = (self.digest + change + old.touch(at_ns) + new.touch(at_ns)) & MASK

    def _unmove(
        self, old: Inode, old_name: str, new: Inode, new_name: str, number: int, digest: int, *mtimes_ns: int
    ) -> None:
        self._drop(new, new_name)
        self._put(old, old_name, number)
        self.digest = digest
        old.mtime_ns, new.mtime_ns = mtimes_ns

    def alter(self, inode: Inode, attributes: dict[str, Any], undo: Undo) -> None:
        """Sets attributes by name."""
        if undo is not None:
            undo.append(
                (self._unalter, inode, {name: getattr(inode, name) for name in attributes}, self.digest)
            )
        old = inode.attributes_term
        for name, value in attributes.items():
            setattr(inode, name, value)
        self.digest = (self.digest + inode.attributes_term - old) & MASK

    def _unalter(self, inode: Inode, attributes: dict[str, Any], digest: int) -> None:
        for name, value in attributes.items():
            setattr(inode, name, value)
        self.digest = digest

    # --- dentries --------------------------------------------------------------------------------------------------

    def _below(self, number: int) -> list[Inode]:
        """The inode and all below it, itself first."""
        found = [self.inodes[number]]
        for inode in found:
            if inode.entries:
                found.extend(self.inodes[child] for child in inode.entries.values())
        return found

    def below(self, inode: Inode) -> list[Inode]:
        return self._below(inode.number)

    @staticmethod
    def _put(parent: Inode, name: str, number: int) -> None:
        if parent.entries is NO_NAMES:
            parent.entries = {name: number}
        else:
            parent.entries[name] = number  # type: ignore[index]

    @staticmethod
    def _drop(parent: Inode, name: str) -> None:
        entries = parent.entries
        assert entries is not None
        del entries[name]
        if not entries:
            parent.entries = NO_NAMES
