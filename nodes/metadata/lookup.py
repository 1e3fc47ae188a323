"""Resolution of a path to inodes, as far as they are at home in this group."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from nodes.errors import FsError
from nodes.metadata.effects import LOST, Busy
from nodes.metadata.inode import Inode
from nodes.metadata.paths import shown, split
from nodes.metadata.tree import Tree
from nodes.units import ROOT, home_group, is_directory


class Start(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """The start of a walk: an inode, and the number of the path's names that lead to it."""

    inode: int
    depth: int


TOP = Start(ROOT, 0)


class Elsewhere(Exception):
    """The path continues at an inode whose home is another group."""

    def __init__(self, start: Start, path: int = 0):
        super().__init__(start)
        self.start = start
        self.path = path
        """Index of the path among those of the operation."""


class Gone(Exception):
    """The inode where the walk should begin is not here (any more): the path must be resolved again."""

    def __init__(self, start: Start, has_ended: bool):
        super().__init__(start)
        self.inode = start.inode if has_ended else 0
        """Number of the inode if it will never be here again; else 0."""


class NamePlace(NamedTuple):
    """The place of an existing or future name."""

    parent: Inode
    name: str
    number: int
    """Number of the child, whose home may be another group; 0 when there is none."""
    child: Inode | None
    """None also when a forced group has lost the child."""


def find(tree: Tree, path: str, start: Start = TOP) -> Inode:
    """The inode at a path. Raises FsError ENOENT, ENOTDIR and those of a malformed path; Elsewhere, Gone, Busy."""
    names = split(path)
    inodes, inode = tree.inodes, _begin(tree, start, names)
    try:
        for name in names[start.depth :] if start.depth else names:
            entries = inode.entries
            if entries is None:
                raise FsError("ENOTDIR", shown(path))
            number = entries.get(name)
            if number is None:
                raise FsError("ENOENT", shown(path))
            inode = inodes[number]
    except KeyError:
        raise _crosses(tree, path, names, start) from None
    return inode


def place_of(tree: Tree, path: str, start: Start = TOP) -> NamePlace:
    """The place of a path's last name. The parent must be an existing directory. Raises as `find`, and EINVAL for the root."""
    names = split(path)
    if not names:
        raise FsError("EINVAL", "the root has no name that could change")
    inodes, inode = tree.inodes, _begin(tree, start, names)
    try:
        for place in range(start.depth, len(names) - 1):
            number = None if inode.entries is None else inode.entries.get(names[place])
            if number is None:
                raise FsError("ENOTDIR" if inode.entries is None else "ENOENT", shown(path))
            inode = inodes[number]
    except KeyError:
        raise _crosses(tree, path, names, start) from None
    if inode.entries is None:
        raise FsError("ENOTDIR", shown(path))
    number = inode.entries.get(names[-1], 0)
    child = inodes.get(number)
    if number and child is None and home_group(number) == tree.group and not tree.has_ended(number):
        raise _to_come(path)
    return NamePlace(inode, names[-1], number, child)


def directory_of(tree: Tree, path: str, parents: bool, start: Start = TOP) -> tuple[Inode, list[str]]:
    """The deepest existing directory of a path, and the missing names below it.

    Raises FsError ENOTDIR; EEXIST when the last one is a file; ENOENT when more than one is missing and not `parents`; Elsewhere, Gone, Busy.
    """
    names = split(path)
    inodes, inode = tree.inodes, _begin(tree, start, names)
    try:
        for depth in range(start.depth, len(names)):
            if inode.entries is None:
                raise FsError("ENOTDIR", shown(path))
            number = inode.entries.get(names[depth])
            if number is None:
                if depth < len(names) - 1 and not parents:
                    raise FsError("ENOENT", shown(path))
                return inode, names[depth:]
            if depth == len(names) - 1 and number not in inodes:
                _end_elsewhere(path, number, parents)
            inode = inodes[number]
    except KeyError:
        raise _crosses(tree, path, names, start) from None
    if inode.entries is None:
        raise FsError("EEXIST", shown(path))
    return inode, []


def _end_elsewhere(path: str, number: int, parents: bool) -> None:
    """A name that belongs to an inode of another group is taken; that inode need not be read."""
    if not is_directory(number) or not parents:
        raise FsError("EEXIST", shown(path))


def still_holds(tree: Tree, place: NamePlace, moves: int) -> bool:
    """Whether a name that was found under this count of moves is decided and still that of the same inode."""
    locks, parent = tree.locks, tree.inodes.get(place.parent.number)
    if parent is None:
        return False  # It was removed with all that was in it: no move was counted.
    undecided = locks.moves or (parent.number, place.name) in locks.names
    return tree.moves == moves and not undecided and (parent.entries or {}).get(place.name, 0) == place.number


def _begin(tree: Tree, start: Start, names: list[str]) -> Inode:
    if not 0 <= start.depth <= len(names):
        raise FsError("EINVAL", f"a walk of {len(names)} names does not begin behind name {start.depth}")
    inode = tree.inodes.get(start.inode)
    if inode is None:
        if home_group(start.inode) != tree.group:
            raise Elsewhere(start)
        raise Gone(start, tree.has_ended(start.inode))
    if tree.locks:
        _check_way(tree, inode, names[start.depth :])
    return inode


def _check_way(tree: Tree, inode: Inode | None, names: list[str]) -> None:
    """Checks that no dentry or inode on the way belongs to an undecided operation. Raises Busy."""
    locks = tree.locks
    if locks.moves:
        raise Busy("a directory is being moved")
    for name in names:
        if inode is None or inode.entries is None:
            return
        # A directory whose removal is promised may be gone already: a later one of its name may have what this one lacks.
        if (inode.number, name) in locks.names or inode.number in locks.exclusive:
            raise Busy(name)
        inode = tree.inodes.get(inode.entries.get(name, 0))
    if inode is not None and inode.number in locks.exclusive:
        raise Busy(f"inode {inode.number}")


def _crosses(tree: Tree, path: str, names: list[str], start: Start) -> Exception:
    """The exception for a walk that led to an inode that is not here."""
    number = start.inode
    for depth in range(start.depth, len(names)):
        entries = tree.inodes[number].entries
        assert entries is not None
        number = entries[names[depth]]
        if number not in tree.inodes:
            if not is_directory(number) and depth < len(names) - 1:
                return FsError("ENOTDIR", shown(path))
            if tree.has_ended(number):
                # The name is not locked: it stays. This group or another was forced, and has lost what belongs to it.
                return FsError("EIO", LOST)
            if home_group(number) == tree.group:
                return _to_come(path)
            return Elsewhere(Start(number, depth + 1))
    raise AssertionError(f"nothing of {shown(path)} is elsewhere")


def _to_come(path: str) -> Busy:
    """A promised inode of this group. Another group has decided to create it, and reported its number, before this group knows the decision."""
    return Busy(f"{shown(path)} is being made")
