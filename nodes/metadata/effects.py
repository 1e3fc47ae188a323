"""Changes of a distributed operation at the home of the changed objects: checked before they are promised, carried out once they are decided."""

from __future__ import annotations

from nodes.errors import FsError
from nodes.metadata.changes import (
    AddDentry,
    Change,
    CountMove,
    CountName,
    DropInode,
    Keep,
    NewInode,
    RemoveDentry,
)
from nodes.metadata.inode import Inode
from nodes.metadata.operations import LINKS_MAX
from nodes.metadata.tree import Tree, Undo

LOST = "the name is there, but its group has lost the object"


class Busy(Exception):
    """The change touches an object of an undecided operation: it waits, or is tried again."""


class Changed(Busy):
    """The plan of the change is outdated: the operation is planned again."""


def check(tree: Tree, change: Change) -> None:
    """Checks that the change may be promised. Raises FsError, or Busy."""
    locks = tree.locks
    if isinstance(change, AddDentry | RemoveDentry | Keep):
        _check_dentry(tree, change)
    elif isinstance(change, DropInode | CountName):
        _check_inode(tree, change)
    elif type(change) is CountMove and locks.keep_directories:
        raise Busy("operations that were begun before the move are not decided")


def _check_inode(tree: Tree, change: DropInode | CountName) -> None:
    if change.inode in tree.locks.exclusive or change.inode in tree.locks.shared:
        raise Busy(f"inode {change.inode}")
    inode = tree.inodes.get(change.inode)
    if inode is None:
        _check_lost(tree, change)
        return
    if isinstance(change, CountName):
        check_links(inode)
    elif inode.entries and not change.orphan:
        raise FsError("ENOTEMPTY")


def _check_lost(tree: Tree, change: DropInode | CountName) -> None:
    """A dentry of another group leads to no inode. Either it is about to go, and then that group refuses its part, or a forced group has lost
    what belongs to it: such a dentry can be removed."""
    if not tree.has_ended(change.inode):
        raise Busy(f"inode {change.inode} is not here yet")
    if isinstance(change, CountName):
        # The coordinator keeps the name by which it found the file.
        raise FsError("EIO", LOST)


def check_links(inode: Inode) -> None:
    """Checks that a file may have another name. Raises FsError."""
    if inode.nlink >= LINKS_MAX:
        raise FsError("EMLINK", f"a file has at most {LINKS_MAX} names")


def _check_dentry(tree: Tree, change: AddDentry | RemoveDentry | Keep) -> None:
    parent = tree.inodes.get(change.parent)
    if parent is None or parent.entries is None:
        raise Changed(f"inode {change.parent} is gone: its path may lead to another directory now")
    if (change.parent, change.name) in tree.locks.names or change.parent in tree.locks.exclusive:
        raise Busy(f"{change.name} in inode {change.parent}")
    if tree.locks.keep_names:
        raise Busy("a directory is being moved")
    expected = change.over if isinstance(change, AddDentry) else change.child
    if parent.entries.get(change.name, 0) != expected:
        raise Changed(f"{change.name} in inode {change.parent} is not what it was")


def carry_out(tree: Tree, changes: list[Change], numbers: list[int], at_ns: int, undo: Undo) -> None:
    """Carries out decided changes. `numbers` are those of the inodes that the operation makes, in all groups, in order.

    A removed directory takes no name: only an open hole lets it be removed before.
    """
    made = iter(numbers)
    for change in changes:
        if type(change) is NewInode:
            tree.allocate(next(made), change.mode, at_ns, change.unit, undo)
        elif type(change) is AddDentry:
            parent = tree.inodes.get(change.parent)
            if parent is None:
                continue
            if change.over:
                tree.unlink(parent, change.name, at_ns, undo)
            tree.link(parent, change.name, change.child or next(made), at_ns, undo)
        elif type(change) is RemoveDentry:
            tree.unlink(tree.inodes[change.parent], change.name, at_ns, undo)
        elif type(change) is DropInode:
            if change.inode in tree.inodes:
                tree.drop(change.inode, undo)
        elif type(change) is CountName:
            tree.count_name(tree.inodes[change.inode], 1, undo)
        elif type(change) is CountMove:
            tree.count_move(undo)
