"""Shared parts of the tests of the tree and of its log."""

from __future__ import annotations

from pathlib import Path

from nodes.coordination import operations as ops
from nodes.coordination.image import Image, dump
from nodes.coordination.log import Logged, TransactionLog
from nodes.coordination.tree import OPERATOR, ZnodeTree

FILE = "log-00000001"


def logged(tree: ZnodeTree, session: int, op: ops.Change, at_ms: int = 5) -> Logged:
    """Makes the change and returns its log entry."""
    result = tree.submit(session, op, at_ms)
    assert result.changed, result
    return Logged(result.zxid, session, at_ms, op)


def written(directory: Path, batches: int = 4) -> list[Image]:
    """A log of one session and some nodes; returns the tree's image before the first batch and after each."""
    tree, log = ZnodeTree(), TransactionLog(directory)
    log.open(tree, 0)
    images = [dump(tree)]
    for number in range(batches):
        session = max(tree.sessions.open, default=OPERATOR)
        changes: list[ops.Change] = [
            ops.CreateSession(5_000, b"secret"),
            ops.CreateZnode(f"/n{number}", b"data"),
        ]
        if session:
            changes.append(
                ops.Multi([ops.CreateZnode("/e-", b"", True, True), ops.SetData(f"/n{number}", b"new", 0)])
            )
        log.write([logged(tree, session, op) for op in changes])
        images.append(dump(tree))
    log.close()
    return images


def reopened(directory: Path) -> tuple[ZnodeTree, TransactionLog]:
    """Raises LogRefused."""
    tree, log = ZnodeTree(), TransactionLog(directory)
    log.open(tree, 0)
    return tree, log
