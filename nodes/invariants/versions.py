"""Values with their past: the value that a read at an earlier position saw, until the horizon passes it."""

from __future__ import annotations

from collections import deque
from typing import Any

PLACE_BITS = 20
FIELDS = ("mode", "owner", "group", "replication", "nlink", "mtime_ns")
"""The attributes of a node, None for unknown ones. The mtime is known of files whose times were set and that are still empty."""


def position_of(sn: int, place: int) -> int:
    """The position (sn, place) as one integer."""
    return sn << PLACE_BITS | place


def sn_of(position: int) -> int:
    return position >> PLACE_BITS


def shown_position(position: int) -> str:
    return f"place {position & ((1 << PLACE_BITS) - 1)} of group {position >> PLACE_BITS}"


class Version:
    """A value from `position` on; `before` is the replaced version."""

    __slots__ = ("before", "position", "value")

    def __init__(self, position: int, value: Any, before: Version | None):
        self.position = position
        self.value = value
        self.before = before


def value_at(version: Version | None, position: int) -> Any:
    """The value at a position; None when there was none yet."""
    while version is not None and version.position > position:
        version = version.before
    return None if version is None else version.value


class VersionedNode:
    """A file, or a directory when `names` is not None."""

    __slots__ = ("attributes", "inode", "names")

    def __init__(self, directory: bool, attributes: Version):
        self.names: dict[str, Version] | None = {} if directory else None
        self.attributes = attributes
        """Values are tuples of `FIELDS`."""
        self.inode = 0
        """Inode number; 0 while no result has shown it."""


class Past:
    """Drops versions that no read can refer to any more."""

    def __init__(self) -> None:
        self._replaced: deque[tuple[Version, dict[str, Version] | None, str]] = deque()
        self.names = 0
        """Number of names now, those below recursively deleted directories included."""

    def set_name(
        self, names: dict[str, Version], name: str, child: VersionedNode | None, position: int
    ) -> None:
        """Sets the node of a name; None removes the name."""
        before = names.get(name)
        existed = before is not None and before.value is not None
        self.names += (child is not None) - existed
        version = names[name] = Version(position, child, before)
        if before is not None:
            self._replaced.append((version, names, name))

    def set_attributes(self, node: VersionedNode, value: tuple[Any, ...], position: int) -> None:
        node.attributes = Version(position, value, node.attributes)
        self._replaced.append((node.attributes, None, ""))

    def forget_before(self, horizon: int) -> None:
        replaced = self._replaced
        while replaced and replaced[0][0].position <= horizon:
            version, names, name = replaced.popleft()
            version.before = None
            if version.value is None and names is not None and names.get(name) is version:
                del names[name]


def copy_of(root: VersionedNode, position: int) -> VersionedNode:
    """A copy of everything below a directory at this position, without its past. A file with several names is one node in the copy, too."""
    made = {id(root): _copied(root, position)}
    found = [root]
    while found:
        node = found.pop()
        names = made[id(node)].names
        for name, version in (node.names or {}).items():
            child = value_at(version, position)
            if child is None:
                continue
            if id(child) not in made:
                made[id(child)] = _copied(child, position)
                found.append(child)
            assert names is not None
            names[name] = Version(min(version.position, position), made[id(child)], None)
    return made[id(root)]


def _copied(node: VersionedNode, position: int) -> VersionedNode:
    attributes = Version(min(node.attributes.position, position), value_at(node.attributes, position), None)
    copy = VersionedNode(node.names is not None, attributes)
    copy.inode = node.inode
    return copy
