"""The things that a call reads and changes, derived from the call alone, so that every member locks the same (SAA §6).

A name and its target have separate locks: a call that makes `/a/b` changes the name `/a/b` and the directory `/a/`. It does not delay a call that
only passes through `/a`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.errors import FsError
from nodes.metadata.lookup import find
from nodes.metadata.operations import (
    AddBlock,
    Append,
    CloseSession,
    Complete,
    ContentSummary,
    Create,
    Delete,
    EndSession,
    Link,
    Mkdir,
    Open,
    OpenSession,
    Read,
    Rename,
    Restamp,
    SetOwner,
    SetPermission,
    SetReplication,
    SetTimes,
    Write,
)
from nodes.metadata.paths import split
from nodes.metadata.tree import Tree
from nodes.protocols.symmetric.locks import Thing, WantedLocks
from nodes.units import OpId

ALONE = (Append, AddBlock, Complete, Restamp, Link, CloseSession, EndSession)
"""Operations that wait until all earlier calls are submitted, so that they run one at a time.

Their outcome depends on the effects of a session, or on an inode that other calls may reach by another name, by its number, or by the session that
writes it."""


def wanted_by(operation: Write | EndSession, op_id: OpId) -> WantedLocks:
    """The locks of a call: its client's session, the things it touches, and the call itself, so that a second copy waits for the first.

    A call with a malformed path fails and locks nothing more.
    """
    if isinstance(operation, EndSession):
        return WantedLocks((), (f"@{operation.client}",))
    session, itself = f"@{op_id.client}", f"@{op_id.client}#{op_id.number}"
    if type(operation) in (OpenSession, CloseSession):
        return WantedLocks((), (session, itself))
    looks: set[Thing] = {session}
    changes: set[Thing] = {itself}
    try:
        TOUCHES[type(operation)](operation, looks, changes)
    except FsError:
        return WantedLocks((session,), (itself,))
    return WantedLocks(looks - changes, changes)


def looked_at(operation: Read, tree: Tree) -> list[Thing] | None:
    """The things that a read looks at in the present tree; None when that may be anything: a whole subtree, or a file with several names."""
    if type(operation) is ContentSummary:
        return None
    things: list[Thing] = []
    try:
        things += [*_names(split(operation.path)), _inside(operation.path)]
        inode = find(tree, operation.path)
    except FsError:
        return things
    if inode.entries is None and inode.nlink > 1:
        return None
    body = tree.bodies.get(inode.number) if type(operation) is Open else None
    if body is not None and body.writer is not None:
        things.append(f"@{body.writer.client}")
    return [*things, inode.number]


def _names(names: list[str]) -> list[str]:
    """The names on a path from the top: `/a`, `/a/b`."""
    return ["/" + "/".join(names[:depth]) for depth in range(1, len(names) + 1)]


def _inside(path: str) -> str:
    return path if path == "/" else path + "/"


def _entry(path: str, looks: set[Thing], changes: set[Thing]) -> None:
    """A change of a name also changes its directory."""
    *passed, name = _names(split(path)) or ["/"]
    looks.update(passed)
    changes.update((name, _inside(passed[-1] if passed else "/")))


def _found(path: str, looks: set[Thing], changes: set[Thing]) -> None:
    """A change of a path's target leaves the names unchanged."""
    looks.update(_names(split(path)))
    changes.add(_inside(path))


def _make(operation: Create | Mkdir, looks: set[Thing], changes: set[Thing]) -> None:
    _entry(operation.path, looks, changes)
    if isinstance(operation, Mkdir) and operation.parents:
        for name in _names(split(operation.path)):
            _entry(name, looks, changes)


def _rename(operation: Rename, looks: set[Thing], changes: set[Thing]) -> None:
    for path in (operation.old, operation.new):
        _entry(path, looks, changes)
    changes.add(_inside(operation.new))


def _link(operation: Link, looks: set[Thing], changes: set[Thing]) -> None:
    _found(operation.old, looks, changes)
    _entry(operation.new, looks, changes)


def _delete(operation: Delete, looks: set[Thing], changes: set[Thing]) -> None:
    _entry(operation.path, looks, changes)
    changes.add(_inside(operation.path))


def _alter(operation: Any, looks: set[Thing], changes: set[Thing]) -> None:
    _found(operation.path, looks, changes)


def _write_on(operation: Any, looks: set[Thing], changes: set[Thing]) -> None:
    changes.add(operation.inode)


TOUCHES: dict[type, Callable[[Any, set[Thing], set[Thing]], None]] = {
    Create: _make,
    Mkdir: _make,
    Rename: _rename,
    Link: _link,
    Delete: _delete,
    SetPermission: _alter,
    SetOwner: _alter,
    SetTimes: _alter,
    SetReplication: _alter,
    Append: _alter,
    AddBlock: _write_on,
    Complete: _write_on,
    Restamp: _write_on,
}
