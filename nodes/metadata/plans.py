"""Planning: from an operation to the record that carries it out, or to its parts on several groups, validated on the present tree.

A planner changes nothing; it refuses an operation with FsError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from nodes.errors import FsError
from nodes.metadata.changes import MADE, AddDentry, Change, CountName, DropInode, Keep, NewInode, RemoveDentry
from nodes.metadata.effects import Busy, check_links
from nodes.metadata.inode import Inode
from nodes.metadata.lookup import TOP, Elsewhere, NamePlace, Start, directory_of, find, place_of
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
from nodes.metadata.operations import Link as LinkTo
from nodes.metadata.paths import NAME_MAX, shown, split
from nodes.metadata.placement import Placement
from nodes.metadata.records import (
    AlterRecord,
    CloseSessionRecord,
    KeepRecord,
    LinkRecord,
    MakeRecord,
    MoveRecord,
    OpenSessionRecord,
    Record,
    RemoveRecord,
)
from nodes.metadata.tree import Tree
from nodes.units import DIRECTORY, OpId, home_group, is_directory

DONE = Done()
MODE_MAX = 0o7777
REPLICATION_MAX = 512
TIME_MAX = (1 << 63) - 1


class Call(NamedTuple):
    """The head of a record."""

    op_id: OpId
    lowest_open: int
    at_ns: int


class ResolutionContext(NamedTuple):
    """The context of path resolution: the starts of an operation's paths, and the placement of new objects."""

    starts: tuple[Start, ...] = ()
    placement: Placement | None = None
    """Placement policy; None when there is only one group."""

    def start(self, index: int) -> Start:
        return self.starts[index] if index < len(self.starts) else TOP


ALONE = ResolutionContext()


class Split(NamedTuple):
    """An operation on several groups: its changes on each, by group number."""

    parts: dict[int, list[Change]]
    coordinated: bool = False
    """The coordinator decides when all have promised; otherwise the only participant decides."""
    moves: bool = False
    """The path of a directory changes or ends, and every group counts that."""


class Look(NamedTuple):
    """A rename or link must first ask another group which object has the new name."""

    operation: Rename | LinkTo
    place: NamePlace
    to_parent: int
    to_name: str
    changed_ns: int
    """When the old parent last changed: a name that went and came back is not the one that was planned."""


Plan = Record | Split | Look


def plan_create(tree: Tree, operation: Create, call: Call, way: ResolutionContext) -> Plan:
    _check_mode(operation.mode)
    place = place_of(tree, operation.path, way.start(0))
    if place.number:
        raise FsError("EEXIST", shown(operation.path))
    return _make(tree, place.parent, [place.name], False, operation.mode, call, way)


def plan_mkdir(tree: Tree, operation: Mkdir, call: Call, way: ResolutionContext) -> Plan:
    _check_mode(operation.mode)
    parent, names = directory_of(tree, operation.path, operation.parents, way.start(0))
    if not names:
        if not operation.parents:
            raise FsError("EEXIST", shown(operation.path))
        return KeepRecord(*call, Made(parent.number))
    if way.placement is not None and len(names) > 1:
        raise FsError("ENOENT", "parents that may have other homes are made one by one")
    return _make(tree, parent, names, True, operation.mode, call, way)


def _make(
    tree: Tree,
    parent: Inode,
    names: list[str],
    directory: bool,
    mode: int,
    call: Call,
    way: ResolutionContext,
) -> Plan:
    """DCFS2 Table 1, create and mkdir: the dentry at the parent's home, the inode at its own."""
    first = tree.next_number | (DIRECTORY if directory else 0)
    if way.placement is None:
        return MakeRecord(*call, Made(first + len(names) - 1), parent.number, names, first, directory, mode)
    choice = way.placement.choose(parent.number, tree.units.get(parent.number), names[0], directory)
    if choice.home == tree.group:
        return MakeRecord(
            *call, Made(first), parent.number, names, first, directory, mode, choice.parent, choice.child
        )  # fmt: skip
    return Split(
        {
            tree.group: [AddDentry(parent.number, names[0], MADE, 0, choice.parent)],
            choice.home: [NewInode(directory, mode, choice.child)],
        }
    )


def _both_places(
    tree: Tree, operation: Rename | LinkTo, way: ResolutionContext
) -> tuple[NamePlace, NamePlace | None]:
    """The places of the old and the new name; no new place when its parent is at home in another group. Raises FsError, Elsewhere."""
    old = place_of(tree, operation.old, way.start(0))
    target = way.start(1)
    if way.placement is not None and home_group(target.inode) != tree.group:
        return old, None
    try:
        new = place_of(tree, operation.new, target)
    except Elsewhere as elsewhere:
        elsewhere.path = 1
        raise
    if not old.number:
        raise FsError("ENOENT", shown(operation.old))
    return old, new


def plan_rename(tree: Tree, operation: Rename, call: Call, way: ResolutionContext) -> Plan:
    old, new = _both_places(tree, operation, way)
    if new is None:
        return _elsewhere(operation, old, way.start(1))
    if old.number == new.number:
        return KeepRecord(*call, DONE)
    _check_below(operation)
    check_overwrite(operation, old.number, new.number)
    if new.child is not None and new.child.entries:
        raise FsError("ENOTEMPTY", shown(operation.new))
    alone = way.placement is None
    if alone or not (is_directory(old.number) or (new.number and new.child is None)):
        if new.number and new.number in tree.locks.shared:
            raise Busy(shown(operation.new))
        return MoveRecord(*call, DONE, old.parent.number, old.name, new.parent.number, new.name)
    return split_rename(old, new.parent.number, new.name, new.number)


def _elsewhere(operation: Rename | LinkTo, old: NamePlace, target: Start) -> Look:
    """The plan when the new parent's home is another group; the client has resolved that parent."""
    names = split(operation.new)
    if not names:
        raise FsError("EINVAL", "the root has no name that could change")
    if target.depth != len(names) - 1:
        raise Elsewhere(target, 1)
    # No error is reported here, ENOENT of the old name included: the new parent, as the client knows it, may be gone, or a file by now.
    return Look(operation, old, target.inode, names[-1], old.parent.mtime_ns)


def _check_below(operation: Rename) -> None:
    if operation.new.startswith(operation.old + "/"):
        raise FsError("EINVAL", f"{shown(operation.new)} is below {shown(operation.old)}")


def split_rename(old: NamePlace, to_parent: int, to_name: str, over: int) -> Split:
    """Splits a rename among up to four inodes: both parents, the moved object, the replaced object. All groups count a directory's move."""
    parts: dict[int, list[Change]] = {home_group(old.parent.number): [], home_group(to_parent): []}
    parts[home_group(old.parent.number)].append(RemoveDentry(old.parent.number, old.name, old.number))
    parts[home_group(to_parent)].append(AddDentry(to_parent, to_name, old.number, over))
    if over:
        parts.setdefault(home_group(over), []).append(DropInode(over))
    return Split(parts, True, is_directory(old.number))


def split_found(plan: Look, there: int) -> Split:
    """The plan after a look has found the object `there` under the new name. Raises FsError."""
    operation, old = plan.operation, plan.place
    if not old.number:
        raise FsError("ENOENT", shown(operation.old))
    if isinstance(operation, LinkTo):
        _check_linked(operation, old.number, there)
        return split_link(old, plan.to_parent, plan.to_name)
    if there == old.number:
        parts: dict[int, list[Change]] = {
            home_group(old.parent.number): [Keep(old.parent.number, old.name, old.number)],
            home_group(plan.to_parent): [Keep(plan.to_parent, plan.to_name, there)],
        }
        return Split(parts, True)
    _check_below(operation)
    check_overwrite(operation, old.number, there)
    return split_rename(old, plan.to_parent, plan.to_name, there)


def plan_link(tree: Tree, operation: LinkTo, call: Call, way: ResolutionContext) -> Plan:
    old, new = _both_places(tree, operation, way)
    if new is None:
        return _elsewhere(operation, old, way.start(1))
    _check_linked(operation, old.number, new.number)
    if old.child is None:
        return split_link(old, new.parent.number, new.name)
    check_links(old.child)
    return LinkRecord(*call, DONE, new.parent.number, new.name, old.number)


def split_link(old: NamePlace, to_parent: int, to_name: str) -> Split:
    """Splits a link among up to three inodes: both parents and the file. The old name stays unchanged until the decision."""
    parts: dict[int, list[Change]] = {home_group(old.parent.number): [], home_group(to_parent): []}
    parts[home_group(old.parent.number)].append(Keep(old.parent.number, old.name, old.number))
    parts[home_group(to_parent)].append(AddDentry(to_parent, to_name, old.number))
    parts.setdefault(home_group(old.number), []).append(CountName(old.number))
    return Split(parts, True)


def _check_linked(operation: LinkTo, old: int, new: int) -> None:
    if is_directory(old):
        raise FsError("EISDIR", shown(operation.old))
    if new:
        raise FsError("EEXIST", shown(operation.new))


def check_overwrite(operation: Rename, moved: int, replaced: int) -> None:
    """Raises FsError when the object under the new name, if any, may not be replaced."""
    if not replaced:
        return
    if not operation.overwrite:
        raise FsError("EEXIST", shown(operation.new))
    if not is_directory(replaced):
        if is_directory(moved):
            raise FsError("ENOTDIR", shown(operation.new))
    elif not is_directory(moved):
        raise FsError("EISDIR", shown(operation.new))


def plan_delete(tree: Tree, operation: Delete, call: Call, way: ResolutionContext) -> Plan:
    """DCFS2 Table 1, remove and rmdir."""
    place = place_of(tree, operation.path, way.start(0))
    if not place.number:
        raise FsError("ENOENT", shown(operation.path))
    return delete_of(tree, place, operation, call)


def delete_of(tree: Tree, place: NamePlace, operation: Delete, call: Call) -> Plan:
    child, number = place.child, place.number
    drop: list[Change] = [DropInode(number, operation.recursive)]
    unlink = RemoveDentry(place.parent.number, place.name, number)
    if child is None:
        if home_group(number) == tree.group:
            if not tree.has_ended(number):
                # Another group has decided that, and gave it a name.
                raise Busy(f"inode {number} is being made")
            return Split({tree.group: [unlink, *drop]}, True)  # Lost by a forced group: the name alone goes.
        coordinated = is_directory(number) and operation.recursive
        return Split({tree.group: [unlink], home_group(number): drop}, coordinated, coordinated)
    if child.entries and not operation.recursive:
        raise FsError("ENOTEMPTY", shown(operation.path))
    if number in tree.locks.shared or number in tree.locks.exclusive:
        raise Busy(shown(operation.path))
    if child.entries and not tree.all_here(child):
        return Split({tree.group: [unlink, *drop]}, True, True)
    return RemoveRecord(*call, DONE, place.parent.number, place.name)


def plan_set_permission(tree: Tree, operation: SetPermission, call: Call, way: ResolutionContext) -> Plan:
    _check_mode(operation.mode)
    return AlterRecord(*call, DONE, find(tree, operation.path, way.start(0)).number, mode=operation.mode)


def plan_set_owner(tree: Tree, operation: SetOwner, call: Call, way: ResolutionContext) -> Plan:
    for name in (operation.owner, operation.group):
        if len(name.encode()) > NAME_MAX or "\0" in name:
            raise FsError("EINVAL", f"an owner or group is at most {NAME_MAX} bytes without NUL")
    owner, group = operation.owner or None, operation.group or None
    return AlterRecord(*call, DONE, find(tree, operation.path, way.start(0)).number, owner=owner, group=group)


def plan_set_times(tree: Tree, operation: SetTimes, call: Call, way: ResolutionContext) -> Plan:
    if not (0 <= operation.mtime_ns <= TIME_MAX and 0 <= operation.atime_ns <= TIME_MAX):
        raise FsError("EINVAL", f"times are nanoseconds since 1970, at most {TIME_MAX}")
    number = find(tree, operation.path, way.start(0)).number
    if number in tree.locks.promised:
        # The name may be decided already. When its decision arrives, it sets the time of the directory.
        raise Busy(shown(operation.path))
    return AlterRecord(*call, DONE, number, mtime_ns=operation.mtime_ns, atime_ns=operation.atime_ns)


def plan_set_replication(tree: Tree, operation: SetReplication, call: Call, way: ResolutionContext) -> Plan:
    if not 1 <= operation.replication <= REPLICATION_MAX:
        raise FsError("EINVAL", f"replication is between 1 and {REPLICATION_MAX}")
    inode = find(tree, operation.path, way.start(0))
    if inode.entries is not None:
        raise FsError("EISDIR", shown(operation.path))
    return AlterRecord(*call, DONE, inode.number, replication=operation.replication)


def plan_open_session(tree: Tree, operation: OpenSession, call: Call, way: ResolutionContext) -> Plan:
    return OpenSessionRecord(*call, DONE, operation.since)


def plan_close_session(tree: Tree, operation: CloseSession, call: Call, way: ResolutionContext) -> Plan:
    return CloseSessionRecord(*call, DONE)


def _check_mode(mode: int) -> None:
    if not 0 <= mode <= MODE_MAX:
        raise FsError("EINVAL", f"permission bits are between 0 and {MODE_MAX:o} (octal)")


PLANNERS: dict[type, Callable[[Tree, Any, Call, ResolutionContext], Plan]] = {
    Create: plan_create,
    Mkdir: plan_mkdir,
    Rename: plan_rename,
    LinkTo: plan_link,
    Delete: plan_delete,
    SetPermission: plan_set_permission,
    SetOwner: plan_set_owner,
    SetTimes: plan_set_times,
    SetReplication: plan_set_replication,
    OpenSession: plan_open_session,
    CloseSession: plan_close_session,
}
