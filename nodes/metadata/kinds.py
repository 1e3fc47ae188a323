"""The content of an image: one entry of `KINDS` for each kind of state, in the order in which they lie in a partition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import msgspec

from nodes.metadata.blocks import Body
from nodes.metadata.inode import NO_NAMES, Inode, dentry_term
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import Block, Result
from nodes.metadata.placement import Unit
from nodes.metadata.tree import orphan_term, unit_term
from nodes.units import GROUP_SHIFT, OpId, home_group

InodeRow = tuple[int, int, int, int, str, str, int, int, int, bool]
DentryRow = tuple[int, str, int]
BodyRow = tuple[int, int, list[Block], OpId | None]
UnitRow = tuple[int, Unit]
SessionRow = tuple[str, int, int, dict[int, Result]]

Placed = tuple[int | None, list[Any]]
"""The number of the directory whose partition the rows belong to (None: the first partition), and at most `BATCH` rows. The rows may be empty,
so that the writer of the image can give others a turn."""
BATCH = 256
PATIENCE = 4096
"""Inodes and names that are skipped before a turn is given."""
MARKS_MOST = 64 << 20
"""Files with own-group numbers up to this one are marked in an array, by a byte each. All others are marked in a set."""


Wanted = Callable[[int], bool]
"""Whether the rows of a directory's partition are wanted, by the directory's number."""


class PageKind(msgspec.Struct, frozen=True):
    """`rows` of a namespace, at least the wanted ones; the type of a `page` of them; and the function `load`, which restores rows and returns the
    growth of the tree's digest."""

    rows: Callable[[Namespace, Wanted], Iterator[Placed]]
    page: Any
    load: Callable[[Namespace, list[Any]], int]


def _inode_rows(namespace: Namespace, wanted: Wanted) -> Iterator[Placed]:
    """Each directory with its files, each file once. Then the files whose directory is in another group, by their own number.

    A file with several names belongs to the first directory that has it, wanted or not.
    """
    tree, base = namespace.tree, namespace.group << GROUP_SHIFT
    inodes, most = tree.inodes, min(MARKS_MOST, max(0, tree.next_number - base))
    ours, others, files, passed = bytearray(most), set[int](), 0, 0
    for inode in inodes.values():
        passed += 1
        if not passed % PATIENCE:
            yield None, []
        if inode.entries is None:
            files += 1
            continue
        takes = wanted(inode.number)
        rows = [_inode_row(inode)] if takes else []
        for child in inode.entries.values():
            passed += 1
            if not passed % PATIENCE:
                yield None, []
            file = inodes.get(child)
            if file is None or file.entries is not None:
                continue
            index = child - base
            if 0 <= index < most:
                if ours[index]:
                    continue
                ours[index] = 1
            elif child in others:
                continue
            else:
                others.add(child)
            files -= 1
            if takes:
                rows.append(_inode_row(file))
            if len(rows) == BATCH:
                yield inode.number, rows
                rows = []
        if rows:
            yield inode.number, rows
    if files:
        yield from _strays(namespace, wanted, base, ours, others)


def _strays(
    namespace: Namespace, wanted: Wanted, base: int, ours: bytearray, others: set[int]
) -> Iterator[Placed]:
    """The files that are marked neither in `ours` nor in `others`."""
    for place, inode in enumerate(namespace.tree.inodes.values()):
        if not place % PATIENCE:
            yield None, []
        index = inode.number - base
        marked = ours[index] if 0 <= index < len(ours) else inode.number in others
        if inode.entries is None and not marked and wanted(inode.number):
            yield inode.number, [_inode_row(inode)]


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
        inode.nlink,
        inode.entries is not None,
    )


def _load_inodes(namespace: Namespace, rows: list[InodeRow]) -> int:
    inodes, change = namespace.tree.inodes, 0
    for number, mode, mtime_ns, atime_ns, owner, group, replication, length, nlink, directory in rows:
        inode = Inode(
            number, mode, mtime_ns, atime_ns, owner, group, replication, length, nlink,
            NO_NAMES if directory else None,
        )  # fmt: skip
        inodes[number] = inode
        change += inode.attributes_term
    return change


def _dentry_rows(namespace: Namespace, wanted: Wanted) -> Iterator[Placed]:
    for place, inode in enumerate(namespace.tree.inodes.values()):
        if not place % PATIENCE:
            yield None, []
        if inode.entries and wanted(inode.number):
            number, names = inode.number, iter(inode.entries.items())
            while rows := [(number, name, child) for name, child in islice(names, BATCH)]:
                yield number, rows


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


def _body_rows(namespace: Namespace, wanted: Wanted) -> Iterator[Placed]:
    for body in namespace.tree.bodies:
        yield body.inode, [(body.inode, body.block_size, body.blocks, body.writer)]


def _load_bodies(namespace: Namespace, rows: list[BodyRow]) -> int:
    for row in rows:
        namespace.tree.bodies.restore(Body(*row))
    return 0


def _next_block_rows(namespace: Namespace, wanted: Wanted) -> Iterator[Placed]:
    yield None, [namespace.tree.bodies.next_block]


def _load_next_block(namespace: Namespace, rows: list[int]) -> int:
    (namespace.tree.bodies.next_block,) = rows
    return 0


def _unit_rows(namespace: Namespace, wanted: Wanted) -> Iterator[Placed]:
    for number, unit in namespace.tree.units.items():
        yield number, [(number, unit)]


def _load_units(namespace: Namespace, rows: list[UnitRow]) -> int:
    namespace.tree.units.update(rows)
    return sum(unit_term(number, unit) for number, unit in rows)


def _orphan_rows(namespace: Namespace, wanted: Wanted) -> Iterator[Placed]:
    for number in namespace.tree.orphans:
        yield None, [number]


def _load_orphans(namespace: Namespace, rows: list[int]) -> int:
    namespace.tree.orphans.update(dict.fromkeys(rows))
    return sum(orphan_term(number) for number in rows)


def _crossing_rows(namespace: Namespace, wanted: Wanted) -> Iterator[Placed]:
    for row in namespace.crossing.rows():
        yield None, [row]


def _load_crossing(namespace: Namespace, rows: list[Any]) -> int:
    namespace.crossing.restore(rows)
    return 0


def _session_rows(namespace: Namespace, wanted: Wanted) -> Iterator[Placed]:
    for client, each in namespace.sessions:
        yield None, [(client, each.lowest_open, each.used_ns, each.results)]


def _load_sessions(namespace: Namespace, rows: list[SessionRow]) -> int:
    for client, lowest_open, used_ns, results in rows:
        namespace.sessions.restore(client, lowest_open, used_ns, results)
    return 0


KINDS: dict[str, PageKind] = {
    "inodes": PageKind(_inode_rows, list[InodeRow], _load_inodes),
    "dentries": PageKind(_dentry_rows, list[DentryRow], _load_dentries),
    "bodies": PageKind(_body_rows, list[BodyRow], _load_bodies),
    "next block": PageKind(_next_block_rows, list[int], _load_next_block),
    "units": PageKind(_unit_rows, list[UnitRow], _load_units),
    "orphans": PageKind(_orphan_rows, list[int], _load_orphans),
    "crossing": PageKind(_crossing_rows, list[Any], _load_crossing),
    "sessions": PageKind(_session_rows, list[SessionRow], _load_sessions),
}
