"""What an image holds: one entry of `KINDS` for each kind of state, in the order in which they lie in a partition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from nodes.metadata.blocks import Body
from nodes.metadata.inode import NO_NAMES, Inode, dentry_term
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import Block, Result
from nodes.metadata.placement import Unit
from nodes.metadata.tree import orphan_term, unit_term
from nodes.units import GROUP_SHIFT, OpId, home_group

InodeRow = tuple[int, int, int, int, str, str, int, int, bool]
DentryRow = tuple[int, str, int]
BodyRow = tuple[int, int, list[Block], OpId | None]
UnitRow = tuple[int, Unit]
SessionRow = tuple[str, int, dict[int, Result]]

Placed = tuple[int | None, Any] | None
"""The number of the directory whose partition the row goes to (None: the first partition) and the row; or nothing yet, so that whoever
writes the image can let others have a turn."""
PATIENCE = 4096
"""Inodes that are passed over in silence."""


class Kind(msgspec.Struct, frozen=True):
    """`rows` of a namespace, the type of a `page` of them, and how rows come back: `load` gives by how much the tree's digest grows."""

    rows: Callable[[Namespace], Iterator[Placed]]
    page: Any
    load: Callable[[Namespace, list[Any]], int]


class Seen:
    """Inode numbers, a bit each for those of the namespace's own group."""

    def __init__(self, namespace: Namespace):
        self._base = namespace.group << GROUP_SHIFT
        self._bits = bytearray(max(0, namespace.tree.next_number - self._base) // 8 + 1)
        self._others: set[int] = set()

    def is_new(self, number: int) -> bool:
        """True once for each number."""
        place, bit = (number - self._base) >> 3, 1 << (number & 7)
        if not 0 <= place < len(self._bits):
            new = number not in self._others
            self._others.add(number)
            return new
        new = not self._bits[place] & bit
        self._bits[place] |= bit
        return new


def _inode_rows(namespace: Namespace) -> Iterator[Placed]:
    """Each directory with the files in it; then the files whose directory is elsewhere, by their own number."""
    inodes, seen = namespace.tree.inodes, Seen(namespace)
    for place, inode in enumerate(inodes.values()):
        if inode.entries is None:
            if not place % PATIENCE:
                yield None
            continue
        number = inode.number
        yield number, _inode_row(inode)
        for child in inode.entries.values():
            file = inodes.get(child)
            if file is not None and file.entries is None and seen.is_new(child):
                yield number, _inode_row(file)
    for place, inode in enumerate(inodes.values()):
        if inode.entries is None and seen.is_new(inode.number):
            yield inode.number, _inode_row(inode)
        elif not place % PATIENCE:
            yield None


def _inode_row(inode: Inode) -> InodeRow:
    return (
        inode.number,
        inode.mode,
        inode.mtime_ns,
        inode.atime_ns,
        inode.owner,
        inode.group,
        inode.replication,
        inode.length,
        inode.entries is not None,
    )


def _load_inodes(namespace: Namespace, rows: list[InodeRow]) -> int:
    inodes, change = namespace.tree.inodes, 0
    for number, mode, mtime_ns, atime_ns, owner, group, replication, length, directory in rows:
        inode = Inode(
            number, mode, mtime_ns, atime_ns, owner, group, replication, length,
            NO_NAMES if directory else None,
        )  # fmt: skip
        inodes[number] = inode
        change += inode.attributes_term
    return change


def _dentry_rows(namespace: Namespace) -> Iterator[Placed]:
    for place, inode in enumerate(namespace.tree.inodes.values()):
        number = inode.number
        for name, child in (inode.entries or NO_NAMES).items():
            yield number, (number, name, child)
        if not place % PATIENCE:
            yield None


def _load_dentries(namespace: Namespace, rows: list[DentryRow]) -> int:
    inodes, change = namespace.tree.inodes, 0
    for number, name, child in rows:
        parent = inodes[number]
        if parent.entries is None:
            raise TypeError(f"inode {number} is no directory")
        if parent.entries is NO_NAMES:
            parent.entries = {}
        parent.entries[name] = child
        change += dentry_term(number, name, child)
        namespace.tree.branch_points += home_group(child) != namespace.group
    return change


def _body_rows(namespace: Namespace) -> Iterator[Placed]:
    for body in namespace.tree.bodies:
        yield body.inode, (body.inode, body.block_size, body.blocks, body.writer)


def _load_bodies(namespace: Namespace, rows: list[BodyRow]) -> int:
    for row in rows:
        namespace.tree.bodies.restore(Body(*row))
    return 0


def _next_block_rows(namespace: Namespace) -> Iterator[Placed]:
    yield None, namespace.tree.bodies.next_block


def _load_next_block(namespace: Namespace, rows: list[int]) -> int:
    (namespace.tree.bodies.next_block,) = rows
    return 0


def _unit_rows(namespace: Namespace) -> Iterator[Placed]:
    for number, unit in namespace.tree.units.items():
        yield number, (number, unit)


def _load_units(namespace: Namespace, rows: list[UnitRow]) -> int:
    namespace.tree.units.update(rows)
    return sum(unit_term(number, unit) for number, unit in rows)


def _orphan_rows(namespace: Namespace) -> Iterator[Placed]:
    for number in namespace.tree.orphans:
        yield None, number


def _load_orphans(namespace: Namespace, rows: list[int]) -> int:
    namespace.tree.orphans.update(dict.fromkeys(rows))
    return sum(orphan_term(number) for number in rows)


def _crossing_rows(namespace: Namespace) -> Iterator[Placed]:
    for row in namespace.crossing.rows():
        yield None, row


def _load_crossing(namespace: Namespace, rows: list[Any]) -> int:
    namespace.crossing.restore(rows)
    return 0


def _session_rows(namespace: Namespace) -> Iterator[Placed]:
    for client, each in namespace.sessions:
        yield None, (client, each.lowest_open, each.results)


def _load_sessions(namespace: Namespace, rows: list[SessionRow]) -> int:
    for client, lowest_open, results in rows:
        namespace.sessions.restore(client, lowest_open, results)
    return 0


KINDS: dict[str, Kind] = {
    "inodes": Kind(_inode_rows, list[InodeRow], _load_inodes),
    "dentries": Kind(_dentry_rows, list[DentryRow], _load_dentries),
    "bodies": Kind(_body_rows, list[BodyRow], _load_bodies),
    "next block": Kind(_next_block_rows, list[int], _load_next_block),
    "units": Kind(_unit_rows, list[UnitRow], _load_units),
    "orphans": Kind(_orphan_rows, list[int], _load_orphans),
    "crossing": Kind(_crossing_rows, list[Any], _load_crossing),
    "sessions": Kind(_session_rows, list[SessionRow], _load_sessions),
}
