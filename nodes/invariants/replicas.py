"""Replicas that data nodes report, block by block: present ones, and removed ones with the reason. The checks of blocks read them."""

from __future__ import annotations

from nodes.invariants.checker import place_in_trace
from nodes.trace.events import Stamped

GONE_KEPT = 100_000
UNKNOWN = -1
"""The length of a replica that was found at a start."""


class ReportedReplica:
    """A whole replica as its data node reported it, or its removal."""

    __slots__ = ("at_ns", "evidence", "length", "removal", "stamp")

    def __init__(self, stamp: int, length: int, stamped: Stamped, removal: str = ""):
        self.stamp = stamp
        self.length = length
        self.at_ns = stamped.at_ns
        self.evidence = place_in_trace(stamped)
        self.removal = removal


class Replicas:
    """Replicas by block and data node."""

    def __init__(self) -> None:
        self._held: dict[int, dict[str, ReportedReplica]] = {}
        self._gone: dict[tuple[int, str], ReportedReplica] = {}
        """The last replica of a block that a node removed or lost, and the time of this."""
        self._nodes: dict[str, None] = {}
        self._finding: dict[str, dict[int, ReportedReplica]] = {}
        """Data nodes that have reported part of their replicas at a start, with their earlier replicas."""

    def holders(self, block: int) -> dict[str, ReportedReplica]:
        """The replicas of a block by node; callers must not change them."""
        return self._held.get(block, {})

    def of(self, node: str) -> dict[int, ReportedReplica]:
        """The replicas of one node, by block."""
        return {block: held[node] for block, held in self._held.items() if node in held}

    def since(self, node: str, at_ns: int) -> dict[int, ReportedReplica]:
        """The present replicas of one node, and those that it still had at an earlier time."""
        gone = {
            block: held for (block, name), held in self._gone.items() if name == node and held.at_ns > at_ns
        }
        return gone | self.of(node)

    def gone(self, block: int, node: str) -> ReportedReplica | None:
        return self._gone.get((block, node))

    def lost(self, block: int) -> dict[str, ReportedReplica]:
        """The nodes that had the block and have lost it."""
        gone = {node: self._gone.get((block, node)) for node in self._nodes}
        return {node: held for node, held in gone.items() if held is not None}

    def hold(self, block: int, stamp: int, length: int, stamped: Stamped) -> None:
        self._nodes[stamped.server] = None
        self._gone.pop((block, stamped.server), None)
        self._held.setdefault(block, {})[stamped.server] = ReportedReplica(stamp, length, stamped)

    def find(self, blocks: list[tuple[int, int]], more: bool, stamped: Stamped) -> None:
        """Takes the (block, stamp) pairs of a node at its start. Replicas that it does not report are gone."""
        node = stamped.server
        before = self._finding.get(node)
        if before is None:
            before = self._finding[node] = self.of(node)
            for block in before:
                self.lose(block, "not found at the start", stamped)
        for block, stamp in blocks:
            known = before.get(block)
            same = known is not None and known.stamp == stamp
            self.hold(block, stamp, known.length if known is not None and same else UNKNOWN, stamped)
        if not more:
            del self._finding[node]

    def lose(self, block: int, removal: str, stamped: Stamped) -> None:
        held = self._held.get(block, {}).pop(stamped.server, None)
        if held is None:
            return
        if not self._held[block]:
            del self._held[block]
        self._gone[block, stamped.server] = ReportedReplica(held.stamp, held.length, stamped, removal)
        if len(self._gone) > GONE_KEPT:
            del self._gone[next(iter(self._gone))]
