"""exactly up to the barrier, data nodes: what the namespace named at the barrier lies on data nodes when the cluster has gone back (safety rule 14;
CFS §4.3)."""

from __future__ import annotations

from nodes.invariants.checker import PATIENCE_NS, Check, place_in_trace
from nodes.invariants.replicas import UNKNOWN, Held, Replicas
from nodes.invariants.up_to_barrier import UpToBarrier
from nodes.trace.checkpoints import BlocksAtBarrier, TakenBack
from nodes.trace.events import Stamped

CHECKPOINTS_KEPT = 64
"""Of all groups together."""
FREED = "freed"
"""The one reason that takes a block from every node at once."""

Named = dict[int, tuple[int, int]]
"""Block to the stamp and the length under which it was finished."""


class BarrierBlocks(Check):
    """The copy is what each active told when its barrier was committed. What rotted or was lost with its disk since then is nobody's mistake."""

    name = UpToBarrier.name
    meaning = UpToBarrier.meaning

    def __init__(self, replicas: Replicas) -> None:
        super().__init__()
        self._replicas = replicas
        """As the events so far tell it; kept up by another check."""
        self.steps = {BlocksAtBarrier: self._on_blocks, TakenBack: self._on_taken_back}
        self._coming: dict[tuple[str, str], Named] = {}
        self._named: dict[tuple[str, str], Named] = {}
        """By group and checkpoint."""
        self._returns: dict[tuple[str, int], Stamped] = {}
        """By group and incarnation: the first server that went back; None is judged before all have told what they did until then."""
        self._judged: set[tuple[str, int]] = set()

    def _on_blocks(self, stamped: Stamped, event: BlocksAtBarrier) -> None:
        key = (event.group, event.name)
        named = self._coming.setdefault(key, {})
        named.update({block: (stamp, length) for block, stamp, length in event.blocks})
        if event.more:
            return
        self._named.pop(key, None)
        self._named[key] = self._coming.pop(key)
        if len(self._named) > CHECKPOINTS_KEPT:
            del self._named[next(iter(self._named))]

    def _on_taken_back(self, stamped: Stamped, event: TakenBack) -> None:
        key = (event.group, event.incarnation)
        if event.sn and key not in self._judged:
            self._returns.setdefault(key, stamped)

    def on_time(self, now_ns: int) -> None:
        self._judge(now_ns - PATIENCE_NS)

    def finish(self) -> None:
        self._judge(1 << 63)

    def _judge(self, oldest_ns: int) -> None:
        for key, stamped in list(self._returns.items()):
            if stamped.at_ns <= oldest_ns:
                del self._returns[key]
                self._judged.add(key)
                self._compare(stamped)

    def _compare(self, stamped: Stamped) -> None:
        event = stamped.event
        assert isinstance(event, TakenBack)
        for block, (stamp, length) in self._named.get((event.group, event.checkpoint), {}).items():
            wrong, evidence = self._fault(block, stamp, length, stamped.at_ns)
            if wrong:
                where = f"checkpoint {event.checkpoint} names block {block:016x} of {event.group} with stamp {stamp} and {length} octets"
                self.fail(f"{where}; {wrong}", *evidence, place_in_trace(stamped))
            else:
                self.checked += 1

    def _fault(self, block: int, stamp: int, length: int, at_ns: int) -> tuple[str, list[tuple[str, int]]]:
        """What is wrong with the replicas of a block that had this stamp and length; empty when nothing is."""

        def fits(held: Held) -> bool:
            return held.stamp == stamp and held.length in (length, UNKNOWN)

        holders, lost = self._replicas.holders(block), self._replicas.lost(block)
        if any(map(fits, holders.values())):
            return "", []
        for node, held in lost.items():
            if fits(held) and held.reason == FREED and held.at_ns <= at_ns:
                return f"{node} removed it as freed, and no data node has it any more", [held.evidence]
        if any(map(fits, lost.values())):
            return "", []
        for node, held in holders.items():
            if held.stamp == stamp:
                return f"{node} has {held.length} octets of it", [held.evidence]
        return "", []
