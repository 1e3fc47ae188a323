"""A file system as a dictionary of paths: slow, obvious, and independent of the tested code."""

from __future__ import annotations

from typing import Any

from nodes.metadata import operations as ops


class ModelError(Exception):
    pass


class Model:
    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, Any]] = {"/": {"kind": "directory", "mode": 0o755}}

    def _parent(self, path: str) -> str:
        return path.rsplit("/", 1)[0] or "/"

    def _names(self, path: str) -> list[str]:
        prefix = path.rstrip("/") + "/"
        return sorted(p[len(prefix) :] for p in self.nodes if p != "/" and self._parent(p) == path)

    def _resolve(self, path: str) -> dict[str, Any]:
        steps = path.split("/")[1:]
        here = ""
        for step in steps if path != "/" else []:
            if self.nodes[here or "/"]["kind"] == "file":
                raise ModelError("ENOTDIR")
            here += "/" + step
            if here not in self.nodes:
                raise ModelError("ENOENT")
        return self.nodes[here or "/"]

    def _resolve_parent(self, path: str) -> None:
        if path == "/":
            raise ModelError("EINVAL")
        if self._resolve(self._parent(path))["kind"] == "file":
            raise ModelError("ENOTDIR")

    def run(self, op: Any) -> Any:
        return getattr(self, type(op).__name__)(op)

    def Create(self, op: ops.Create) -> None:
        self._resolve_parent(op.path)
        if op.path in self.nodes:
            raise ModelError("EEXIST")
        self.nodes[op.path] = {"kind": "file", "mode": op.mode}

    def Mkdir(self, op: ops.Mkdir) -> None:
        if op.parents:
            return self._mkdirs(op)
        if op.path == "/":
            raise ModelError("EEXIST")
        self._resolve_parent(op.path)
        if op.path in self.nodes:
            raise ModelError("EEXIST")
        self.nodes[op.path] = {"kind": "directory", "mode": op.mode}

    def _mkdirs(self, op: ops.Mkdir) -> None:
        steps = op.path.split("/")[1:] if op.path != "/" else []
        paths = ["/" + "/".join(steps[: i + 1]) for i in range(len(steps))]
        for path in paths:
            if path in self.nodes and self.nodes[path]["kind"] == "file":
                raise ModelError("EEXIST" if path == op.path else "ENOTDIR")
        for path in paths:
            self.nodes.setdefault(path, {"kind": "directory", "mode": op.mode})

    def Rename(self, op: ops.Rename) -> None:
        self._resolve_parent(op.old)
        self._resolve_parent(op.new)
        if op.old not in self.nodes:
            raise ModelError("ENOENT")
        if self.nodes[op.old] is self.nodes.get(op.new):
            return
        if op.new.startswith(op.old + "/"):
            raise ModelError("EINVAL")
        if op.new in self.nodes:
            self._overwrite(op)
        moved = [p for p in self.nodes if p == op.old or p.startswith(op.old + "/")]
        for path in moved:
            self.nodes[op.new + path[len(op.old) :]] = self.nodes.pop(path)

    def _overwrite(self, op: ops.Rename) -> None:
        if not op.overwrite:
            raise ModelError("EEXIST")
        old, new = self.nodes[op.old]["kind"], self.nodes[op.new]["kind"]
        if old == "directory" and new == "file":
            raise ModelError("ENOTDIR")
        if old == "file" and new == "directory":
            raise ModelError("EISDIR")
        if self._names(op.new):
            raise ModelError("ENOTEMPTY")
        del self.nodes[op.new]

    def Link(self, op: ops.Link) -> None:
        self._resolve_parent(op.old)
        self._resolve_parent(op.new)
        if op.old not in self.nodes:
            raise ModelError("ENOENT")
        if self.nodes[op.old]["kind"] == "directory":
            raise ModelError("EISDIR")
        if op.new in self.nodes:
            raise ModelError("EEXIST")
        self.nodes[op.new] = self.nodes[op.old]

    def Delete(self, op: ops.Delete) -> None:
        self._resolve_parent(op.path)
        if op.path not in self.nodes:
            raise ModelError("ENOENT")
        if self._names(op.path) and not op.recursive:
            raise ModelError("ENOTEMPTY")
        for path in [p for p in self.nodes if p == op.path or p.startswith(op.path + "/")]:
            del self.nodes[path]

    def SetPermission(self, op: ops.SetPermission) -> None:
        self._resolve(op.path)["mode"] = op.mode

    def SetReplication(self, op: ops.SetReplication) -> None:
        if self._resolve(op.path)["kind"] == "directory":
            raise ModelError("EISDIR")

    def SetOwner(self, op: ops.SetOwner) -> None:
        node = self._resolve(op.path)
        node["owner"] = op.owner or node.get("owner", "clover")

    def SetTimes(self, op: ops.SetTimes) -> None:
        self._resolve(op.path)

    def Stat(self, op: ops.Stat) -> tuple[str, int, str, int, int]:
        node = self._resolve(op.path)
        names = sum(each is node for each in self.nodes.values())
        return node["kind"], node["mode"], node.get("owner", "clover"), len(self._names(op.path)), names

    def List(self, op: ops.List) -> tuple[list[str], bool]:
        if self._resolve(op.path)["kind"] == "file":
            raise ModelError("ENOTDIR")
        names = [name for name in self._names(op.path) if name > op.after]
        return names[: op.limit], len(names) > op.limit

    def ContentSummary(self, op: ops.ContentSummary) -> tuple[int, int]:
        self._resolve(op.path)
        prefix = op.path.rstrip("/") + "/"
        below = [node for path, node in self.nodes.items() if path == op.path or path.startswith(prefix)]
        return sum(n["kind"] == "directory" for n in below), sum(n["kind"] == "file" for n in below)
