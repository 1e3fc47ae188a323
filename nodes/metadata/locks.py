"""Locks on names and inodes of changes that are promised and not decided (safety rule 12)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nodes.metadata.changes import AddDentry, Change, CountMove, CountName, DropInode, Keep, RemoveDentry
from nodes.units import is_directory


class NameLocks:
    """Names and inodes under promised changes. The tables are empty except for short moments."""

    def __init__(self, promises_across_moves: bool = False) -> None:
        self._promises_across_moves = promises_across_moves
        """The known bug `promised_across_move`."""
        self.names: dict[tuple[int, str], int] = {}
        """Undecided dentries, by (parent, name). They count as present, and reads of them wait."""
        self.shared: dict[int, int] = {}
        """Directories with an undecided dentry: they may not be removed."""
        self.promised: dict[int, int] = {}
        """Members of `shared` where another group decides. That group may already have answered, so that reads of the directory and changes of its
        times wait."""
        self.exclusive: dict[int, int] = {}
        """Inodes about to be removed, or to get another name: no child is created or looked for in them, and their readers and writers wait."""
        self.moves = 0
        """Number of promised moves of directories. No path is valid until they are decided."""
        self.to_come: set[int] = set()
        """Numbers of the inodes that promised operations make."""

    def __bool__(self) -> bool:
        return bool(self.names or self.exclusive or self.moves)

    @property
    def keep_directories(self) -> bool:
        """No directory may be promised to move now: its ancestry would be checked on directories that are about to change.

        Files have no part in that. The names by which an operation reaches a file count where they are.
        """
        return bool(self.names or self.moves or any(map(is_directory, self.exclusive)))

    @property
    def keep_names(self) -> bool:
        """No name may be promised now: its path may lead to another directory when the moves are decided."""
        return bool(self.moves) and not self._promises_across_moves

    def hold(self, changes: list[Change], promised: bool = False, numbers: Sequence[int] = ()) -> None:
        """Locks the objects of promised changes, which make inodes of these numbers. `promised`: another group's coordinator decides."""
        self._count(changes, 1, promised)
        self.to_come.update(numbers)

    def release(self, changes: list[Change], promised: bool = False, numbers: Sequence[int] = ()) -> None:
        self._count(changes, -1, promised)
        self.to_come.difference_update(numbers)

    def _count(self, changes: list[Change], by: int, promised: bool) -> None:
        for change in changes:
            if isinstance(change, AddDentry | RemoveDentry | Keep):
                _add(self.names, (change.parent, change.name), by)
                _add(self.shared, change.parent, by)
                if promised:
                    _add(self.promised, change.parent, by)
            elif isinstance(change, DropInode | CountName):
                _add(self.exclusive, change.inode, by)
            elif isinstance(change, CountMove):
                self.moves += by


class DentryLocks(NameLocks):
    """The hole `dentry_locks_only`: directories with an undecided dentry may still be removed or moved."""

    @property
    def keep_directories(self) -> bool:
        return False

    def _count(self, changes: list[Change], by: int, promised: bool) -> None:
        for change in changes:
            if isinstance(change, AddDentry | RemoveDentry | Keep):
                _add(self.names, (change.parent, change.name), by)


def _add(counts: dict[Any, int], key: Any, by: int) -> None:
    count = counts.get(key, 0) + by
    if count:
        counts[key] = count
    else:
        del counts[key]
