"""One-shot watches, by path and by session."""

from __future__ import annotations

from nodes.coordination.codes import Code, OperationRefused
from nodes.coordination.operations import WatchEvent

CREATED, DELETED, DATA_CHANGED, CHILDREN_CHANGED = 1, 2, 3, 4

WATCHES_MAX = 10_000
"""Largest number of paths that one session watches."""
Table = dict[str, dict[int, None]]


class Watches:
    """Watches fire in the order in which they were set, so that a seed replays."""

    def __init__(self) -> None:
        self.data: Table = {}
        """Watches set by get and exists."""
        self.child: Table = {}
        self._paths: dict[int, dict[str, None]] = {}

    def add(self, table: Table, path: str, session: int) -> None:
        """Raises OperationRefused(QUOTA_EXCEEDED)."""
        if len(self._paths.get(session, ())) >= WATCHES_MAX and path not in self._paths[session]:
            raise OperationRefused(Code.QUOTA_EXCEEDED)
        table.setdefault(path, {})[session] = None
        self._paths.setdefault(session, {})[path] = None

    def forget(self, session: int) -> None:
        """Drops the watches of a session whose connection, or which itself, is gone."""
        for path in self._paths.pop(session, ()):
            for table in (self.data, self.child):
                watchers = table.get(path)
                if watchers is not None:
                    watchers.pop(session, None)
                    if not watchers:
                        del table[path]

    def _take(self, table: Table, path: str) -> dict[int, None]:
        watchers = table.pop(path, None)
        if watchers is None:
            return {}
        other = self.child if table is self.data else self.data
        left = other.get(path, {})
        for session in watchers:
            if session not in left:
                self._paths[session].pop(path, None)
        return watchers

    def created(self, path: str, parent: str, events: list[WatchEvent]) -> None:
        if path in self.data:
            events.extend(WatchEvent(session, CREATED, path) for session in self._take(self.data, path))
        self._children_changed(parent, events)

    def deleted(self, path: str, parent: str, events: list[WatchEvent]) -> None:
        """Fires the watches of a deleted node. A session that watches data and children of the node is notified once."""
        if path in self.data or path in self.child:
            reported = self._take(self.data, path) | self._take(self.child, path)
            events.extend(WatchEvent(session, DELETED, path) for session in reported)
        self._children_changed(parent, events)

    def data_changed(self, path: str, events: list[WatchEvent]) -> None:
        if path in self.data:
            events.extend(WatchEvent(session, DATA_CHANGED, path) for session in self._take(self.data, path))

    def _children_changed(self, parent: str, events: list[WatchEvent]) -> None:
        if parent in self.child:
            events.extend(
                WatchEvent(session, CHILDREN_CHANGED, parent) for session in self._take(self.child, parent)
            )

    def sessions(self) -> int:
        """Number of sessions that watch a path."""
        return sum(bool(paths) for paths in self._paths.values())

    def count(self) -> int:
        return sum(len(watchers) for table in (self.data, self.child) for watchers in table.values())

    def of(self, path: str) -> dict[str, list[int]]:
        """Sessions that watch the node, by kind."""
        tables = (("data", self.data), ("child", self.child))
        return {kind: list(table[path]) for kind, table in tables if path in table}
