"""Who may not be touched because of changes that are promised and not decided (safety rule 12)."""

from __future__ import annotations

from typing import Any

from nodes.metadata.changes import Change, CountMove, CountName, DropInode, Keep, Link, Unlink


class Locks:
    """Empty but for short moments."""

    def __init__(self, promises_across_moves: bool = False) -> None:
        self._promises_across_moves = promises_across_moves
        """The known bug `promised_across_move`."""
        self.names: dict[tuple[int, str], int] = {}
        """Undecided dentries, by (parent, name): they count as present, and nobody reads them."""
        self.shared: dict[int, int] = {}
        """Directories in which a dentry is undecided: they stay."""
        self.promised: dict[int, int] = {}
        """Those of `shared` in which another group decides: it may have answered already, so that nobody is told what they are now."""
        self.exclusive: dict[int, int] = {}
        """Inodes about to go, or to have a name more: nothing is made in them, and nobody reads them."""
        self.moves = 0
        """Moves of directories promised: no path is to be trusted until they are decided."""

    def __bool__(self) -> bool:
        return bool(self.names or self.exclusive or self.moves)

    @property
    def keep_directories(self) -> bool:
        """No directory may be promised to move now: ancestry would be checked on what is about to change."""
        return bool(self)

    @property
    def keep_names(self) -> bool:
        """No name may be promised now: the path that led to it may lead elsewhere when the moves are decided."""
        return bool(self.moves) and not self._promises_across_moves

    def hold(self, changes: list[Change], promised: bool = False) -> None:
        """`promised`: to a coordinator that decides."""
        self._count(changes, 1, promised)

    def release(self, changes: list[Change], promised: bool = False) -> None:
        self._count(changes, -1, promised)

    def _count(self, changes: list[Change], by: int, promised: bool) -> None:
        for change in changes:
            if isinstance(change, Link | Unlink | Keep):
                _add(self.names, (change.parent, change.name), by)
                _add(self.shared, change.parent, by)
                if promised:
                    _add(self.promised, change.parent, by)
            elif isinstance(change, DropInode | CountName):
                _add(self.exclusive, change.inode, by)
            elif isinstance(change, CountMove):
                self.moves += by


class DentryLocks(Locks):
    """The hole `dentry_locks_only`: directories are neither kept from going nor from moving while something in them is undecided."""

    @property
    def keep_directories(self) -> bool:
        return False

    def _count(self, changes: list[Change], by: int, promised: bool) -> None:
        for change in changes:
            if isinstance(change, Link | Unlink | Keep):
                _add(self.names, (change.parent, change.name), by)


def _add(counts: dict[Any, int], key: Any, by: int) -> None:
    count = counts.get(key, 0) + by
    if count:
        counts[key] = count
    else:
        del counts[key]
