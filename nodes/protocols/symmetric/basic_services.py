"""The basic metadata services (SAA §6, Fig. 4): the steps of which the transactions consist.

"A create new file request involves three basic services: reading the parent directory to make sure no object has the same name, creating an
object, and adding the handle of the new object into the parent directory."
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.errors import FsError
from nodes.metadata.inode import Inode
from nodes.metadata.namespace import Namespace
from nodes.metadata.records import LinkRecord, MakeRecord, MoveRecord, Record, RemoveRecord
from nodes.metadata.tree import Undo

Service = Callable[[Namespace, Any, Undo], None]
"""Applies its part of a record and records in `undo` how to undo it. Raises FsError before any change."""


def services_of(record: Record) -> tuple[Service, ...]:
    """The basic services of a call in order; the last one stores its result."""
    return (*SERVICES.get(type(record), (change_it,)), remember)


def _directory(namespace: Namespace, number: int) -> Inode:
    inode = namespace.tree.inodes.get(number)
    if inode is None or inode.entries is None:
        raise FsError("ENOENT", f"directory {number} is gone")
    return inode


def _is_there(namespace: Namespace, parent: int, name: str) -> None:
    entries = _directory(namespace, parent).entries
    if entries is None or name not in entries:
        raise FsError("ENOENT", f"directory {parent} has no {name!r}")


def _is_free(namespace: Namespace, parent: int, name: str) -> None:
    entries = _directory(namespace, parent).entries
    if entries is None or name in entries:
        raise FsError("EEXIST", f"directory {parent} has {name!r}")


def name_is_free(namespace: Namespace, record: MakeRecord | LinkRecord, undo: Undo) -> None:
    """Reads the parent: no object has the same name."""
    _is_free(namespace, record.parent, record.names[0] if isinstance(record, MakeRecord) else record.name)


def name_is_there(namespace: Namespace, record: RemoveRecord, undo: Undo) -> None:
    _is_there(namespace, record.parent, record.name)


def names_are_right(namespace: Namespace, record: MoveRecord, undo: Undo) -> None:
    _is_there(namespace, record.from_parent, record.from_name)
    _directory(namespace, record.to_parent)


def make_objects(namespace: Namespace, record: MakeRecord, undo: Undo) -> None:
    for number in _numbers(record):
        namespace.tree.allocate(number, record.mode, record.at_ns, None, undo)


def add_handles(namespace: Namespace, record: MakeRecord, undo: Undo) -> None:
    """Links each new object into its parent; the first parent exists already."""
    tree, parent = namespace.tree, record.parent
    for name, number in zip(record.names, _numbers(record), strict=True):
        tree.link(tree.inodes[parent], name, number, record.at_ns, undo)
        parent = number


def _numbers(record: MakeRecord) -> range:
    return range(record.inode, record.inode + len(record.names))


def count_name(namespace: Namespace, record: LinkRecord, undo: Undo) -> None:
    inode = namespace.tree.inodes.get(record.inode)
    if inode is None:
        raise FsError("ENOENT", f"inode {record.inode} is gone")
    namespace.tree.count_name(inode, 1, undo)


def add_name(namespace: Namespace, record: LinkRecord, undo: Undo) -> None:
    tree = namespace.tree
    tree.link(tree.inodes[record.parent], record.name, record.inode, record.at_ns, undo)


def remove_replaced(namespace: Namespace, record: MoveRecord, undo: Undo) -> None:
    parent = namespace.tree.inodes[record.to_parent]
    if record.to_name in (parent.entries or ()):
        namespace.tree.remove(parent, record.to_name, record.at_ns, undo)


def move_handle(namespace: Namespace, record: MoveRecord, undo: Undo) -> None:
    inodes = namespace.tree.inodes
    old, new = inodes[record.from_parent], inodes[record.to_parent]
    namespace.tree.move(old, record.from_name, new, record.to_name, record.at_ns, undo)


def change_it(namespace: Namespace, record: Record, undo: Undo) -> None:
    """Applies a change that is one basic service: of attributes, a removal, of blocks, of a session."""
    namespace.change(record, undo)


def remember(namespace: Namespace, record: Record, undo: Undo) -> None:
    namespace.remember(record, undo)


SERVICES: dict[type, tuple[Service, ...]] = {
    MakeRecord: (name_is_free, make_objects, add_handles),
    MoveRecord: (names_are_right, remove_replaced, move_handle),
    LinkRecord: (name_is_free, count_name, add_name),
    RemoveRecord: (name_is_there, change_it),
}
