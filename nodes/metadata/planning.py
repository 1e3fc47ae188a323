"""From an operation to the record that carries it out: validated on the present tree, with its numbers and times inside.

A planner changes nothing; what it refuses, it refuses with FsError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from nodes.errors import FsError
from nodes.metadata.inode import Inode
from nodes.metadata.lookup import Place, directory_of, find, place_of
from nodes.metadata.operations import (
    CloseSession,
    Create,
    Delete,
    Done,
    Made,
    Mkdir,
    OpenSession,
    Rename,
    SetOwner,
    SetPermission,
    SetReplication,
    SetTimes,
)
from nodes.metadata.paths import NAME_MAX, shown
from nodes.metadata.records import (
    AlterRecord,
    CloseSessionRecord,
    KeepRecord,
    MakeRecord,
    MoveRecord,
    OpenSessionRecord,
    Record,
    RemoveRecord,
)
from nodes.metadata.tree import Tree
from nodes.units import OpId

DONE = Done()
MODE_MAX = 0o7777
REPLICATION_MAX = 512
TIME_MAX = (1 << 63) - 1


class Call(NamedTuple):
    """The head of a record."""

    op_id: OpId
    lowest_open: int
    at_ns: int


def plan_create(tree: Tree, operation: Create, call: Call) -> Record:
    _check_mode(operation.mode)
    place = place_of(tree, operation.path)
    if place.child is not None:
        raise FsError("EEXIST", shown(operation.path))
    number = tree.next_number
    return MakeRecord(
        *call, Made(number), place.parent.number, [place.name], number, False, operation.mode
    )  # fmt: skip


def plan_mkdir(tree: Tree, operation: Mkdir, call: Call) -> Record:
    _check_mode(operation.mode)
    parent, names = directory_of(tree, operation.path, operation.parents)
    if not names:
        if not operation.parents:
            raise FsError("EEXIST", shown(operation.path))
        return KeepRecord(*call, Made(parent.number))
    first = tree.next_number
    made = Made(first + len(names) - 1)
    return MakeRecord(*call, made, parent.number, names, first, True, operation.mode)


def plan_rename(tree: Tree, operation: Rename, call: Call) -> Record:
    old, new = place_of(tree, operation.old), place_of(tree, operation.new)
    if old.child is None:
        raise FsError("ENOENT", shown(operation.old))
    if old.child is new.child:
        return KeepRecord(*call, DONE)
    if operation.new.startswith(operation.old + "/"):
        raise FsError("EINVAL", f"{shown(operation.new)} is below {shown(operation.old)}")
    if new.child is not None:
        _check_overwrite(operation, old.child, new.child)
    return MoveRecord(*call, DONE, old.parent.number, old.name, new.parent.number, new.name)


def _check_overwrite(operation: Rename, moved: Inode, replaced: Inode) -> None:
    if not operation.overwrite:
        raise FsError("EEXIST", shown(operation.new))
    if replaced.entries is None:
        if moved.entries is not None:
            raise FsError("ENOTDIR", shown(operation.new))
    elif moved.entries is None:
        raise FsError("EISDIR", shown(operation.new))
    elif replaced.entries:
        raise FsError("ENOTEMPTY", shown(operation.new))


def plan_delete(tree: Tree, operation: Delete, call: Call) -> Record:
    place = _existing(tree, operation.path)
    if place.child.entries and not operation.recursive:  # type: ignore[union-attr]
        raise FsError("ENOTEMPTY", shown(operation.path))
    return RemoveRecord(*call, DONE, place.parent.number, place.name)


def _existing(tree: Tree, path: str) -> Place:
    place = place_of(tree, path)
    if place.child is None:
        raise FsError("ENOENT", shown(path))
    return place


def plan_set_permission(tree: Tree, operation: SetPermission, call: Call) -> Record:
    _check_mode(operation.mode)
    return AlterRecord(*call, DONE, find(tree, operation.path).number, mode=operation.mode)


def plan_set_owner(tree: Tree, operation: SetOwner, call: Call) -> Record:
    for name in (operation.owner, operation.group):
        if len(name.encode()) > NAME_MAX or "\0" in name:
            raise FsError("EINVAL", f"an owner or group is at most {NAME_MAX} bytes without NUL")
    owner, group = operation.owner or None, operation.group or None
    return AlterRecord(*call, DONE, find(tree, operation.path).number, owner=owner, group=group)


def plan_set_times(tree: Tree, operation: SetTimes, call: Call) -> Record:
    if not (0 <= operation.mtime_ns <= TIME_MAX and 0 <= operation.atime_ns <= TIME_MAX):
        raise FsError("EINVAL", f"times are nanoseconds since 1970, at most {TIME_MAX}")
    number = find(tree, operation.path).number
    return AlterRecord(*call, DONE, number, mtime_ns=operation.mtime_ns, atime_ns=operation.atime_ns)


def plan_set_replication(tree: Tree, operation: SetReplication, call: Call) -> Record:
    if not 1 <= operation.replication <= REPLICATION_MAX:
        raise FsError("EINVAL", f"replication is between 1 and {REPLICATION_MAX}")
    inode = find(tree, operation.path)
    if inode.entries is not None:
        raise FsError("EISDIR", shown(operation.path))
    return AlterRecord(*call, DONE, inode.number, replication=operation.replication)


def plan_open_session(tree: Tree, operation: OpenSession, call: Call) -> Record:
    return OpenSessionRecord(*call, DONE)


def plan_close_session(tree: Tree, operation: CloseSession, call: Call) -> Record:
    return CloseSessionRecord(*call, DONE)


def _check_mode(mode: int) -> None:
    if not 0 <= mode <= MODE_MAX:
        raise FsError("EINVAL", f"permission bits are between 0 and {MODE_MAX:o} (octal)")


PLANNERS: dict[type, Callable[[Tree, Any, Call], Record]] = {
    Create: plan_create,
    Mkdir: plan_mkdir,
    Rename: plan_rename,
    Delete: plan_delete,
    SetPermission: plan_set_permission,
    SetOwner: plan_set_owner,
    SetTimes: plan_set_times,
    SetReplication: plan_set_replication,
    OpenSession: plan_open_session,
    CloseSession: plan_close_session,
}
