"""Where the pieces of an image are made: in copies of this process, or here."""

from __future__ import annotations

from collections.abc import Iterator

from nodes.metadata.images import dump_partitions
from nodes.metadata.namespace import Namespace
from nodes.world import Piece, Shares, World

APART_FROM = 10_000
"""Inodes from which on copies make an image. Fewer take less time than it takes to copy the process."""


class MadeHere:
    """`Shares` of nodes/world.py, made by this process. The namespace must not change until the last piece is made."""

    def __init__(self, namespace: Namespace, partitions: int):
        self._pieces = dump_partitions(namespace, partitions)

    async def next(self) -> Piece | None:
        return next(self._pieces, None)

    def close(self) -> None:
        """Nothing has to be ended."""


def made_apart(world: World, namespace: Namespace, partitions: int) -> Shares | None:
    """Copies of this process that make the image of the namespace as it is now; None when it is small, or there can be none."""
    if len(namespace.tree.inodes) < APART_FROM:
        return None

    def share(number: int, count: int) -> Iterator[Piece]:
        return dump_partitions(namespace, partitions, range(number, partitions, count))

    return world.copies(share, partitions)
