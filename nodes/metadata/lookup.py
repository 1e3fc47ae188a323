"""From a path to inodes."""

from __future__ import annotations

from typing import NamedTuple

from nodes.errors import FsError
from nodes.metadata.inode import Inode
from nodes.metadata.paths import shown, split
from nodes.metadata.tree import Tree


class Place(NamedTuple):
    """Where a name is or would be."""

    parent: Inode
    name: str
    child: Inode | None


def find(tree: Tree, path: str) -> Inode:
    """Raises FsError ENOENT, ENOTDIR and those of a malformed path."""
    inodes, inode = tree.inodes, tree.root
    for name in split(path):
        entries = inode.entries
        if entries is None:
            raise FsError("ENOTDIR", shown(path))
        number = entries.get(name)
        if number is None:
            raise FsError("ENOENT", shown(path))
        inode = inodes[number]
    return inode


def place_of(tree: Tree, path: str) -> Place:
    """The parent must be a directory that exists. Raises FsError ENOENT, ENOTDIR, EINVAL for the root."""
    names = split(path)
    if not names:
        raise FsError("EINVAL", "the root has no name that could change")
    last = names.pop()
    inodes, inode = tree.inodes, tree.root
    for name in names:
        number = None if inode.entries is None else inode.entries.get(name)
        if number is None:
            raise FsError("ENOTDIR" if inode.entries is None else "ENOENT", shown(path))
        inode = inodes[number]
    if inode.entries is None:
        raise FsError("ENOTDIR", shown(path))
    number = inode.entries.get(last)
    return Place(inode, last, None if number is None else inodes[number])


def directory_of(tree: Tree, path: str, parents: bool) -> tuple[Inode, list[str]]:
    """The deepest directory of a path that exists, and the names that lack below it.

    Raises FsError ENOTDIR, EEXIST when the last one is a file, ENOENT when more than one lacks and not `parents`.
    """
    names = split(path)
    inodes, inode = tree.inodes, tree.root
    for depth, name in enumerate(names):
        if inode.entries is None:
            raise FsError("ENOTDIR", shown(path))
        number = inode.entries.get(name)
        if number is None:
            if depth < len(names) - 1 and not parents:
                raise FsError("ENOENT", shown(path))
            return inode, names[depth:]
        inode = inodes[number]
    if inode.entries is None:
        raise FsError("EEXIST", shown(path))
    return inode, []
