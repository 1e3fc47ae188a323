"""What the audit has to know of the past of blocks: their files, and which of them may be lost.

A write is acknowledged by the data nodes that could be reached, as in HDFS, and copied later. So no family promises to keep the blocks that one
data node alone had when its disk lost data. Nor does a file outlive the loss of as many disks as it has replicas: the active may have ordered the
removal of the others as excess.
"""

from __future__ import annotations

from msgspec.structs import replace

from nodes.explore.atlas import damages
from nodes.invariants.calls import as_travelled, tag_of
from nodes.invariants.replicas import Replicas
from nodes.trace.block_events import ReplicaDamaged, ReplicaRemoved, ReplicasFound, ReplicaStored
from nodes.trace.events import Called, FaultInjected, Stamped


class BlockHistory:
    """Follows the replicas that data nodes report. Of a disk that rots it is not known where, so that all of its replicas count as lost."""

    def __init__(self, nodes: list[str]) -> None:
        self._nodes = nodes
        self._replicas = Replicas()
        self.lost: set[int] = set()
        """Blocks that one disk alone had when it lost data."""
        self._bereft: dict[int, set[str]] = {}
        """The data nodes that had each block when their disks lost data."""
        self.granted: dict[int, int] = {}
        """The file to which each block was granted, as far as its client had the answer."""

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        if isinstance(event, Called):
            if not event.error and event.result and tag_of(event.operation) == "AddBlock":
                self.granted[as_travelled(event.result)[1][0]] = as_travelled(event.operation)[1]
        elif isinstance(event, ReplicaStored):
            self._replicas.hold(event.block, event.stamp, event.length, stamped)
        elif isinstance(event, ReplicasFound):
            self._replicas.find(event.blocks, event.more, stamped)
        elif isinstance(event, ReplicaRemoved | ReplicaDamaged):
            self._replicas.lose(event.block, "", stamped)
        elif isinstance(event, FaultInjected) and damages(event.verb):
            for node in event.targets:
                if node in self._nodes:
                    self._lose_all(node, stamped)

    def may_be_lost(self, block: int, replicas: int) -> bool:
        """Whether no family promises to keep a block of a file with so many replicas."""
        return block in self.lost or len(self._bereft.get(block, ())) >= replicas

    def _lose_all(self, node: str, stamped: Stamped) -> None:
        for block, mine in self._replicas.of(node).items():
            others = [held for name, held in self._replicas.holders(block).items() if name != node]
            if all(held.stamp < mine.stamp for held in others):
                self.lost.add(block)
            self._bereft.setdefault(block, set()).add(node)
            self._replicas.lose(block, "", replace(stamped, server=node))
