"""What data nodes tell that they have, block by block; what they have no more, and why. Read by the checks of blocks."""

from __future__ import annotations

from nodes.invariants.checker import place_in_trace
from nodes.trace.events import Stamped

GONE_KEPT = 100_000
UNKNOWN = -1
"""The length of a replica that was found at a start."""


class Held:
    """A whole replica as its data node told of it, or of its end."""

    __slots__ = ("at_ns", "evidence", "length", "reason", "stamp")

    def __init__(self, stamp: int, length: int, stamped: Stamped, reason: str = ""):
        self.stamp = stamp
        self.length = length
        self.at_ns = stamped.at_ns
        self.evidence = place_in_trace(stamped)
        self.reason = reason
        """Why it is gone."""


class Replicas:
    """By block and data node."""

    def __init__(self) -> None:
        self._held: dict[int, dict[str, Held]] = {}
        self._gone: dict[tuple[int, str], Held] = {}
        """The last replica of a block that a node had, and when it had it no more."""
        self._nodes: dict[str, None] = {}
        self._finding: dict[str, dict[int, Held]] = {}
        """Data nodes that have told a part of what they found at their start, and what they had before."""

    def holders(self, block: int) -> dict[str, Held]:
        """Not to be changed."""
        return self._held.get(block, {})

    def of(self, node: str) -> dict[int, Held]:
        """What one node has, by block."""
        return {block: held[node] for block, held in self._held.items() if node in held}

    def since(self, node: str, at_ns: int) -> dict[int, Held]:
        """What one node has, and what it had still at some time before."""
        gone = {
            block: held for (block, name), held in self._gone.items() if name == node and held.at_ns > at_ns
        }
        return gone | self.of(node)

    def gone(self, block: int, node: str) -> Held | None:
        return self._gone.get((block, node))

    def lost(self, block: int) -> dict[str, Held]:
        """The nodes that had it and have it no more."""
        gone = {node: self._gone.get((block, node)) for node in self._nodes}
        return {node: held for node, held in gone.items() if held is not None}

    def hold(self, block: int, stamp: int, length: int, stamped: Stamped) -> None:
        self._nodes[stamped.server] = None
        self._gone.pop((block, stamped.server), None)
        self._held.setdefault(block, {})[stamped.server] = Held(stamp, length, stamped)

    def find(self, blocks: list[tuple[int, int]], more: bool, stamped: Stamped) -> None:
        """(block, stamp) of what a node has at its start; what it does not find it does not have any more."""
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

    def lose(self, block: int, reason: str, stamped: Stamped) -> None:
        held = self._held.get(block, {}).pop(stamped.server, None)
        if held is None:
            return
        if not self._held[block]:
            del self._held[block]
        self._gone[block, stamped.server] = Held(held.stamp, held.length, stamped, reason)
        if len(self._gone) > GONE_KEPT:
            del self._gone[next(iter(self._gone))]
