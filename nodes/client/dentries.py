"""The client's dentry cache: directories by path. An entry is valid while no directory of the file system has moved.

Every group counts the moves of directories. A path that was resolved under one count is refused under another. A deleted directory is not
found under its number, which no other inode ever gets. Files are not cached: their names may change without being counted.
"""

from __future__ import annotations

from nodes.metadata.lookup import TOP, Start
from nodes.units import is_directory

KEPT = 100_000


class Dentries:
    """Inode numbers of directories by path."""

    def __init__(self, stale: bool = False, kept: int = 0) -> None:
        """`kept`: largest number of directories; 0 selects the built-in limit."""
        self._stale = stale
        """The known bug `stale_dentry_cache`."""
        self._kept = kept or KEPT
        self._known: dict[str, int] = {}
        self.moves = 0

    def start(self, path: str, upto: int) -> Start:
        """Start of the walk along a path: the cached directory behind at most `upto` of its names."""
        depth = depth_of(path)
        while depth:
            inode = self._known.get(path) if depth <= upto else None
            if inode is not None:
                return Start(inode, depth)
            path, depth = path[: path.rfind("/")], depth - 1
        return TOP

    def learn(self, path: str, start: Start, moves: int) -> bool:
        """Learns a group's referral under its count of moves; False when that count is behind."""
        if moves < self.moves:
            return False
        self.forget_all(moves)
        if is_directory(start.inode) and start.depth:
            if len(self._known) >= self._kept:
                del self._known[next(iter(self._known))]
            self._known["/" + "/".join(path.split("/")[1 : start.depth + 1])] = start.inode
        return True

    def forget_all(self, moves: int) -> None:
        """Drops the whole cache, because the count of moves has risen."""
        if moves > self.moves:
            if not self._stale:
                self._known.clear()
            self.moves = moves

    def gone(self, path: str) -> None:
        """The object at this path was deleted; the directories on the way to it have not moved."""
        self._known.pop(path, None)

    def forget(self, path: str) -> None:
        """Drops the path, and every directory on the way to it."""
        while path:
            self._known.pop(path, None)
            path = path.rpartition("/")[0]


def depth_of(path: str) -> int:
    return 0 if path == "/" else path.count("/")
