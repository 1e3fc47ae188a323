"""The removals of one tick, gathered into commands to data nodes."""

from __future__ import annotations

from collections.abc import Iterator

from nodes.blocks.block_map import BlockVerdict, DataNodeState
from nodes.wire.data_messages import Removal, Remove, ReplicaRow

REMOVED_MAX = 1_000
"""Largest number of blocks in one command."""


class Removals:
    def __init__(self) -> None:
        self._blocks: dict[tuple[str, Removal], list[tuple[int, int, int]]] = {}
        """By data node and reason: (block, stamp, state)."""

    def add(self, holders: dict[str, ReplicaRow], names: list[str], removal: Removal) -> None:
        for name in names:
            row = holders[name]
            self._blocks.setdefault((name, removal), []).append((row.block, row.stamp, row.state))

    def add_useless(self, holders: dict[str, ReplicaRow], verdict: BlockVerdict, behind: bool) -> None:
        """Damaged and stale replicas of a block that has a good one. Those that seem stale to a server that is `behind` may be newer than its
        namespace."""
        if verdict.good:
            self.add(holders, verdict.damaged, "damaged")
            if not behind:
                self.add(holders, verdict.stale, "stale")

    def commands(self, epoch: int, nodes: dict[str, DataNodeState]) -> Iterator[tuple[str, Remove]]:
        """(data node, command) pairs. Each command names the life and the version of the node that it is about."""
        for (name, removal), blocks in self._blocks.items():
            known = nodes[name]
            for start in range(0, len(blocks), REMOVED_MAX):
                some = blocks[start : start + REMOVED_MAX]
                yield name, Remove(epoch, some, removal, known.boot, known.version)
