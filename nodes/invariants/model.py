"""A second, simple model of the file system: dictionaries with a recent past.

It shares no code with `nodes.metadata`, which it checks. Paths that every server refuses (EINVAL, ENAMETOOLONG) are never passed to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.invariants.versions import FIELDS, Past, Version, VersionedNode, copy_of, value_at

NO_ATTRIBUTES = (None,) * len(FIELDS)
WALKED = 1_000
"""Number of names up to which a list or summary is compared in full."""


class Wrong(Exception):
    """The POSIX name of the error that the file system must return."""


Expected = tuple[str, Any]
"""The error, empty for success, and the expected result, whose type depends on the operation."""


class Model:
    """`run` carries out an operation at the newest position, `look` returns its result at an earlier one.

    Many methods: one for each operation, and for each check that it makes.
    """

    def __init__(self) -> None:
        self.root = VersionedNode(True, Version(0, NO_ATTRIBUTES, None))
        self.past = Past()
        self._reached: VersionedNode | None = None
        self._linked = False
        """Some file has, or had, more than one name."""
        self._steps: dict[str, Callable[[list[Any], int, bool], Any]] = {
            "Create": self._create,
            "Mkdir": self._mkdir,
            "Rename": self._rename,
            "Link": self._link,
            "Delete": self._delete,
            "SetPermission": self._set_permission,
            "SetOwner": self._set_owner,
            "SetTimes": self._set_times,
            "SetReplication": self._set_replication,
            "OpenSession": self._nothing,
            "CloseSession": self._nothing,
            "Append": self._file,
            "Open": self._file,
            "AddBlock": self._nothing,
            "Complete": self._nothing,
            "Restamp": self._nothing,
            "Stat": self._stat,
            "List": self._list,
            "ContentSummary": self._summary,
        }

    @property
    def names(self) -> int:
        """Number of names that the model has, at least."""
        return self.past.names

    def copy(self, position: int = 1 << 63) -> Model:
        """A copy of the model at this position, which may be in the past."""
        copy = Model()
        copy.root, copy._linked = copy_of(self.root, position), self._linked
        copy.past.names = self.past.names
        return copy

    def run(self, operation: list[Any], position: int) -> Expected:
        return self._expected(operation, position, True)

    def look(self, operation: list[Any], position: int) -> Expected:
        return self._expected(operation, position, False)

    def reach(self, operation: list[Any], resolved: int, position: int, change: bool) -> Expected:
        """The result for an object whose name was resolved at another position than the object was reached."""
        try:
            self._reached = self._find(operation[1], resolved)
            if value_at(self._reached.attributes, position) is None:
                raise Wrong("ENOENT")
            return self._expected(operation, position, change)
        except Wrong as wrong:
            return str(wrong), None
        finally:
            self._reached = None

    def _expected(self, operation: list[Any], position: int, change: bool) -> Expected:
        try:
            return "", self._steps[operation[0]](operation, position, change)
        except Wrong as wrong:
            return str(wrong), None

    def paths(self) -> dict[str, bool]:
        """Every path at the newest position, and whether it is a directory."""
        found, ahead = {"/": True}, [("", self.root)]
        while ahead:
            above, node = ahead.pop()
            for name, version in (node.names or {}).items():
                if version.value is not None:
                    found[f"{above}/{name}"] = version.value.names is not None
                    ahead.append((f"{above}/{name}", version.value))
        return found

    # --- paths ----------------------------------------------------------------------------------------------

    def _find(self, path: str, position: int) -> VersionedNode:
        if self._reached is not None:
            return self._reached
        node = self.root
        for name in path[1:].split("/") if path != "/" else ():
            if node.names is None:
                raise Wrong("ENOTDIR")
            version = node.names.get(name)
            while version is not None and version.position > position:
                version = version.before
            if version is None or version.value is None:
                raise Wrong("ENOENT")
            node = version.value
        return node

    def _place(self, path: str, position: int) -> tuple[dict[str, Version], str, VersionedNode | None]:
        """The place of an existing or future name."""
        if path == "/":
            raise Wrong("EINVAL")
        above, _, name = path.rpartition("/")
        parent = self._find(above or "/", position)
        if parent.names is None:
            raise Wrong("ENOTDIR")
        return parent.names, name, value_at(parent.names.get(name), position)

    # --- writes ---------------------------------------------------------------------------------------------

    def _create(self, operation: list[Any], position: int, change: bool) -> VersionedNode | None:
        names, name, child = self._place(operation[1], position)
        if child is not None:
            raise Wrong("EEXIST")
        return self._make(names, name, False, operation[2], position) if change else None

    def _make(
        self,
        names: dict[str, Version],
        name: str,
        directory: bool,
        mode: int,
        position: int,
    ) -> VersionedNode:
        node = VersionedNode(directory, Version(position, (mode, None, None, None, 1, None), None))
        self.past.set_name(names, name, node, position)
        return node

    def _mkdir(self, operation: list[Any], position: int, change: bool) -> VersionedNode | None:
        path, parents, mode = operation[1:]
        node, lacking = self.root, [] if path == "/" else path[1:].split("/")
        while lacking:
            if node.names is None:
                raise Wrong("ENOTDIR")
            child = value_at(node.names.get(lacking[0]), position)
            if child is None:
                break
            node = child
            del lacking[0]
        if not lacking and (node.names is None or not parents):
            raise Wrong("EEXIST")
        if len(lacking) > 1 and not parents:
            raise Wrong("ENOENT")
        for name in lacking if change else []:
            assert node.names is not None
            node = self._make(node.names, name, True, mode, position)
        return node if change or not lacking else None

    def _rename(self, operation: list[Any], position: int, change: bool) -> None:
        old_path, new_path, overwrite = operation[1:]
        old_names, old_name, moved = self._place(old_path, position)
        new_names, new_name, replaced = self._place(new_path, position)
        if moved is None:
            raise Wrong("ENOENT")
        if moved is replaced:
            return
        if new_path.startswith(old_path + "/"):
            raise Wrong("EINVAL")
        if replaced is not None:
            self._check_overwrite(moved, replaced, overwrite, position)
        if change:
            self.past.set_name(old_names, old_name, None, position)
            self.past.set_name(new_names, new_name, moved, position)
            if replaced is not None:
                self._count_names(replaced, -1, position)

    def _link(self, operation: list[Any], position: int, change: bool) -> None:
        _, _, file = self._place(operation[1], position)
        names, name, taken = self._place(operation[2], position)
        if file is None:
            raise Wrong("ENOENT")
        if file.names is not None:
            raise Wrong("EISDIR")
        if taken is not None:
            raise Wrong("EEXIST")
        if change:
            self._linked = True
            self.past.set_name(names, name, file, position)
            self._count_names(file, 1, position)

    def _count_names(self, node: VersionedNode, by: int, position: int) -> None:
        names = node.attributes.value[4]
        if self._linked and names is not None:
            self._alter(node, position, True, nlink=names + by)

    def _check_overwrite(
        self, moved: VersionedNode, replaced: VersionedNode, overwrite: bool, position: int
    ) -> None:
        if not overwrite:
            raise Wrong("EEXIST")
        if replaced.names is None:
            if moved.names is not None:
                raise Wrong("ENOTDIR")
        elif moved.names is None:
            raise Wrong("EISDIR")
        elif self._has_names(replaced, position):
            raise Wrong("ENOTEMPTY")

    def _has_names(self, node: VersionedNode, position: int) -> bool:
        return any(value_at(version, position) is not None for version in (node.names or {}).values())

    def _delete(self, operation: list[Any], position: int, change: bool) -> None:
        names, name, child = self._place(operation[1], position)
        if child is None:
            raise Wrong("ENOENT")
        if not operation[2] and self._has_names(child, position):
            raise Wrong("ENOTEMPTY")
        if change:
            self.past.set_name(names, name, None, position)
            self._count_names(child, -1, position)
            self._forget_below(child, position)

    def _forget_below(self, node: VersionedNode, position: int) -> None:
        """Names below a recursively deleted directory are removed some time later. The moment until which they count for their files is not known."""
        found = [node] if self._linked else []
        for each in found:
            below = (value_at(version, position) for version in (each.names or {}).values())
            found += [child for child in below if child is not None]
        for each in found[1:]:
            self._alter(each, position, True, nlink=None)

    def _alter(self, node: VersionedNode, position: int, change: bool, **new: Any) -> None:
        if change:
            old = node.attributes.value
            value = tuple(new.get(field, old[index]) for index, field in enumerate(FIELDS))
            self.past.set_attributes(node, value, position)

    def _set_permission(self, operation: list[Any], position: int, change: bool) -> None:
        self._alter(self._find(operation[1], position), position, change, mode=operation[2])

    def _set_owner(self, operation: list[Any], position: int, change: bool) -> None:
        given = {key: value for key, value in zip(("owner", "group"), operation[2:], strict=True) if value}
        self._alter(self._find(operation[1], position), position, change, **given)

    def _set_times(self, operation: list[Any], position: int, change: bool) -> None:
        self._alter(self._find(operation[1], position), position, change, mtime_ns=operation[2])

    def _set_replication(self, operation: list[Any], position: int, change: bool) -> None:
        node = self._find(operation[1], position)
        if node.names is not None:
            raise Wrong("EISDIR")
        self._alter(node, position, change, replication=operation[2])

    def _nothing(self, operation: list[Any], position: int, change: bool) -> None:
        """Sessions and the content of files do not belong to the tree."""

    def _file(self, operation: list[Any], position: int, change: bool) -> None:
        if self._find(operation[1], position).names is not None:
            raise Wrong("EISDIR")

    # --- reads ----------------------------------------------------------------------------------------------

    def _stat(
        self, operation: list[Any], position: int, change: bool
    ) -> tuple[VersionedNode, tuple[Any, ...]]:
        node = self._find(operation[1], position)
        return node, value_at(node.attributes, position)

    def _list(self, operation: list[Any], position: int, change: bool) -> tuple[list[str], bool] | None:
        """Names of a directory; None when there are too many to compare."""
        _, path, after, limit = operation
        node = self._find(path, position)
        if node.names is None:
            raise Wrong("ENOTDIR")
        if len(node.names) > WALKED:
            return None
        names = sorted(n for n, v in node.names.items() if n > after and value_at(v, position) is not None)
        return names[:limit], len(names) > limit

    def _summary(self, operation: list[Any], position: int, change: bool) -> tuple[int, int] | None:
        """Directories and files below a path; None when there are too many to count."""
        found, walked = [self._find(operation[1], position)], 0
        while walked < len(found):
            names = found[walked].names or {}
            if len(found) + len(names) > WALKED:
                return None
            below = (value_at(version, position) for version in names.values())
            found += [child for child in below if child is not None]
            walked += 1
        directories = sum(node.names is not None for node in found)
        return directories, len(found) - directories
