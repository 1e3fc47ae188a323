"""Read operations."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Generator

from nodes.errors import FsError
from nodes.metadata.effects import Busy
from nodes.metadata.files import contents
from nodes.metadata.inode import Inode
from nodes.metadata.lookup import TOP, Start, find
from nodes.metadata.operations import (
    LIST_MAX,
    Attributes,
    ContentSummary,
    List,
    Listing,
    Open,
    Read,
    Result,
    Stat,
    Summary,
)
from nodes.metadata.paths import shown
from nodes.metadata.tree import Tree

SORTED_KEPT = 16
SLICE = 2_000
"""Inodes that are counted without a pause: about a millisecond."""


def attributes(inode: Inode) -> Attributes:
    entries = inode.entries
    return Attributes(
        inode.number,
        "file" if entries is None else "directory",
        inode.mode,
        inode.owner,
        inode.group,
        inode.mtime_ns,
        inode.atime_ns,
        inode.length,
        inode.replication,
        0 if entries is None else len(entries),
        inode.nlink,
    )


class TreeReader:
    """Answers reads of one tree; keeps the sorted names of the directories that were listed last, for paging."""

    def __init__(self, tree: Tree):
        self._tree = tree
        self._sorted: OrderedDict[int, tuple[int, list[str]]] = OrderedDict()

    def read(self, operation: Read, start: Start = TOP) -> Result:
        """Raises FsError, Elsewhere, Gone, Busy."""
        if type(operation) is Stat:
            return self._stat(operation, start)
        if type(operation) is List:
            return self._list(operation, start)
        if type(operation) is Open:
            return contents(self._tree, operation, start)
        assert type(operation) is ContentSummary
        steps = summarise(self._tree, operation, start)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]

    def _stat(self, operation: Stat, start: Start) -> Attributes:
        inode = find(self._tree, operation.path, start)
        if inode.number in self._tree.locks.promised:
            raise Busy(shown(operation.path))
        return attributes(inode)

    def _list(self, operation: List, start: Start) -> Listing:
        inode = find(self._tree, operation.path, start)
        if inode.number in self._tree.locks.shared:
            raise Busy(shown(operation.path))
        if inode.entries is None:
            raise FsError("ENOTDIR", shown(operation.path))
        if not 1 <= operation.limit <= LIST_MAX:
            raise FsError("EINVAL", f"a page of a list has between 1 and {LIST_MAX} names")
        names = self._names(inode, inode.entries)
        begin = bisect_right(names, operation.after) if operation.after else 0
        end = begin + operation.limit
        return Listing(names[begin:end], end < len(names))

    def _names(self, inode: Inode, entries: dict[str, int]) -> list[str]:
        """The sorted names of a directory. The digest shows any change of the directory since they were sorted."""
        kept = self._sorted.get(inode.number)
        if kept is not None and kept[0] == self._tree.digest:
            return kept[1]
        names = sorted(entries)
        self._sorted[inode.number] = (self._tree.digest, names)
        self._sorted.move_to_end(inode.number)
        if len(self._sorted) > SORTED_KEPT:
            self._sorted.popitem(last=False)
        return names


def summarise(tree: Tree, operation: ContentSummary, start: Start = TOP) -> Generator[None, None, Summary]:
    """Counts the objects that are at home here; a client counts other groups' objects by `List`. Yields after every `SLICE` inodes; the tree
    must not change meanwhile."""
    directories = files = size = 0
    found = [find(tree, operation.path, start)]
    for count, inode in enumerate(found, 1):
        if inode.entries is None:
            files += 1
            size += inode.length
        else:
            directories += 1
            found.extend(tree.inodes[child] for child in inode.entries.values())
        if count % SLICE == 0:
            yield
    return Summary(directories, files, size)
