"""One node of the tree."""

from __future__ import annotations

from collections.abc import Callable

from nodes.coordination.acl import OPEN, Acl
from nodes.coordination.operations import ZnodeStat


class Znode:
    """`creations` counts children ever made: it numbers sequential nodes and is the base of cversion."""

    __slots__ = (
        "acl", "aversion", "children", "creations", "ctime", "czxid", "data", "mtime", "mzxid", "owner",
        "pzxid", "version",
    )  # fmt: skip

    def __init__(self, zxid: int, now_ms: int, data: bytes = b"", owner: int = 0, acl: Acl = OPEN):
        self.czxid = self.mzxid = self.pzxid = zxid
        self.ctime = self.mtime = now_ms
        self.version = self.aversion = self.creations = 0
        self.data = data
        self.owner = owner
        self.acl = acl
        self.children: dict[str, None] = {}

    def stat(self) -> ZnodeStat:
        there = len(self.children)
        return ZnodeStat(
            self.czxid, self.mzxid, self.ctime, self.mtime, self.version,
            2 * self.creations - there, self.aversion, self.owner, len(self.data), there, self.pzxid,
        )  # fmt: skip

    def restorer(self) -> Callable[[], None]:
        """A step that restores everything but the children."""
        data, version, mzxid, mtime = self.data, self.version, self.mzxid, self.mtime
        creations, pzxid = self.creations, self.pzxid

        def restore() -> None:
            self.data, self.version, self.mzxid, self.mtime = data, version, mzxid, mtime
            self.creations, self.pzxid = creations, pzxid

        return restore
