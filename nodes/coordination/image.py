"""The whole tree as one value, with which a log file begins."""

from __future__ import annotations

import msgspec

from nodes.coordination.acl import Acl
from nodes.coordination.sessions import ZooKeeperSession
from nodes.coordination.tree import ZnodeTree
from nodes.coordination.znode import Znode


class NodeImage(msgspec.Struct, frozen=True, array_like=True, gc=False):
    path: str
    data: bytes
    czxid: int
    mzxid: int
    pzxid: int
    ctime: int
    mtime: int
    version: int
    aversion: int
    creations: int
    owner: int
    acl: Acl


class Image(msgspec.Struct, frozen=True, array_like=True):
    """A tree without its watches, which end with their connection."""

    zxid: int
    next_session: int
    sessions: list[tuple[int, int, bytes]]
    """Number, time-out in milliseconds, password."""
    nodes: list[NodeImage]
    """A parent before its children."""


def dump(tree: ZnodeTree) -> Image:
    sessions = [(one.number, one.timeout_ms, one.password) for one in tree.sessions.open.values()]
    nodes = [
        NodeImage(
            path, n.data, n.czxid, n.mzxid, n.pzxid, n.ctime, n.mtime, n.version, n.aversion, n.creations,
            n.owner, n.acl,
        )
        for path, n in sorted(tree.nodes.items())
    ]  # fmt: skip
    return Image(tree.zxid, tree.next_session, sessions, nodes)


def load(tree: ZnodeTree, image: Image, now_ms: int) -> None:
    """Fills a fresh tree; every time-out starts at `now_ms`. Raises KeyError when a node lacks its parent or owner."""
    tree.zxid, tree.next_session = image.zxid, image.next_session
    for number, timeout_ms, password in image.sessions:
        tree.sessions.add(ZooKeeperSession(number, timeout_ms, password), now_ms)
    for kept in image.nodes:
        node = Znode(kept.czxid, kept.ctime, kept.data, kept.owner, kept.acl)
        node.mzxid, node.pzxid, node.mtime = kept.mzxid, kept.pzxid, kept.mtime
        node.version, node.aversion, node.creations = kept.version, kept.aversion, kept.creations
        tree.restore(kept.path, node)
