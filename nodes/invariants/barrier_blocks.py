"""exactly up to the barrier, data nodes: after a rollback, data nodes hold the blocks that the namespace named at the barrier, and use no later
ones (safety rule 14; CFS §4.3)."""

from __future__ import annotations

from nodes.invariants.barrier_bound import UpToBarrier
from nodes.invariants.checker import PATIENCE_NS, Check, place_in_trace
from nodes.invariants.replicas import UNKNOWN, Replicas, ReportedReplica
from nodes.trace.block_events import BlocksSetAside
from nodes.trace.checkpoints import BarrierWritten, BlocksAtBarrier, TakenBack
from nodes.trace.events import Stamped
from nodes.units import GROUP_SHIFT, INCARNATION_SHIFT, home_group

CHECKPOINTS_KEPT = 64
"""Number of checkpoints of all groups together that are kept."""
FREED, SET_ASIDE = "freed", "set aside"
FROM_ALL = {FREED: "removed it as freed", SET_ASIDE: "set it aside"}
"""Reasons that remove a block from every node at once."""

Named = dict[int, tuple[int, int]]
"""Stamp and length with which each block was finished."""


class BarrierBlocks(Check):
    """Compares data nodes with the list of blocks that each active reported when its barrier was committed. Blocks that have since rotted, or
    were lost with their disk, are no failure."""

    name = UpToBarrier.name
    meaning = UpToBarrier.meaning
    counts = "blocks at a barrier"

    def __init__(self, replicas: Replicas) -> None:
        super().__init__()
        self.always = False
        self._replicas = replicas
        """Replicas as the events so far report them; another check updates them."""
        self.steps = {
            BarrierWritten: self._on_written,
            BlocksAtBarrier: self._on_blocks,
            TakenBack: self._on_taken_back,
            BlocksSetAside: self._on_set_aside,
        }
        self._coming: dict[tuple[str, str], Named] = {}
        self._named: dict[tuple[str, str], Named] = {}
        """Named blocks by group and checkpoint."""
        self._returns: dict[tuple[str, int], Stamped] = {}
        """By group and incarnation: the first server that rolled back. No block is judged before all servers have reported what they did until
        then."""
        self._judged: set[tuple[str, int]] = set()
        self._next_block: dict[tuple[str, str], int] = {}
        """By group and checkpoint: the number of the first block behind the barrier."""
        self._went_back_to: dict[str, dict[int, str]] = {}
        """By group: checkpoint of each incarnation."""
        self._began_ns: dict[str, dict[int, int]] = {}
        """By group and incarnation: the time when the first server was in it."""
        self._nodes: list[Stamped] = []
        """Reports of data nodes that have rolled back."""

    def _on_written(self, stamped: Stamped, event: BarrierWritten) -> None:
        self._next_block[event.group, event.name] = event.next_block

    def _on_set_aside(self, stamped: Stamped, event: BlocksSetAside) -> None:
        self._nodes.append(stamped)

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
        began_ns = self._began_ns.setdefault(event.group, {})
        began_ns[event.incarnation] = min(stamped.at_ns, began_ns.get(event.incarnation, stamped.at_ns))
        if event.sn:
            # A server that begins from a later image does not know to which checkpoint each earlier recovery led.
            self._went_back_to.setdefault(event.group, {})[event.incarnation] = event.checkpoint
        elif event.checkpoint:
            self._went_back_to.setdefault(event.group, {}).setdefault(event.incarnation, event.checkpoint)
        if event.sn and key not in self._judged:
            self._returns.setdefault(key, stamped)

    def on_time(self, now_ns: int) -> None:
        self._judge(now_ns - PATIENCE_NS)

    def finish(self) -> None:
        self._judge(1 << 63)

    def _judge(self, oldest_ns: int) -> None:
        for key, stamped in list(self._returns.items()):
            if stamped.at_ns <= oldest_ns and not self._was_set_aside_since(oldest_ns, stamped):
                del self._returns[key]
                self._judged.add(key)
                self._compare(stamped)
        nodes, self._nodes = self._nodes, []
        for stamped in nodes:
            if stamped.at_ns <= oldest_ns:
                self._look_for_later_ones(stamped)
            else:
                self._nodes.append(stamped)

    def _look_for_later_ones(self, stamped: Stamped) -> None:
        """No block behind the barrier may be in use on a data node once the node reports its rollback."""
        event = stamped.event
        assert isinstance(event, BlocksSetAside)
        void = self._void(event.group, event.incarnation)
        later = {
            block: held
            for block, held in self._replicas.since(stamped.server, stamped.at_ns).items()
            if any(first <= block < end for first, end in void)
        }
        self.checked += not later
        for block, held in later.items():
            self.fail(
                f"{stamped.server} has gone back with {event.group} in incarnation {event.incarnation}, and block {block:016x}, which was "
                "numbered after the barrier, was still in use there",
                held.evidence,
                place_in_trace(stamped),
            )

    def _was_set_aside_since(self, oldest_ns: int, stamped: Stamped) -> bool:
        """Whether a node has set aside a block of the barrier since then: the recovery that ordered it may not be reported yet."""
        event = stamped.event
        assert isinstance(event, TakenBack)
        return any(
            held.removal == SET_ASIDE and held.at_ns > oldest_ns
            for block in self._named.get((event.group, event.checkpoint), {})
            for held in self._replicas.lost(block).values()
        )

    def _void(self, group: str, incarnation: int, since: int = 1) -> list[tuple[int, int]]:
        """Block numbers that do not belong to the group's past in this incarnation, by its recoveries from incarnation `since` on."""
        ranges: list[tuple[int, int]] = []
        for number, checkpoint in sorted(self._went_back_to.get(group, {}).items()):
            first = self._next_block.get((group, checkpoint), 0)
            if first and since <= number <= incarnation:
                end = (home_group(first) << GROUP_SHIFT) | (number << INCARNATION_SHIFT)
                ranges = [*(each for each in ranges if each[0] < first), (first, end)]
        return ranges

    def _compare(self, stamped: Stamped) -> None:
        event = stamped.event
        assert isinstance(event, TakenBack)
        for block, (stamp, length) in self._named.get((event.group, event.checkpoint), {}).items():
            wrong, evidence = self._fault(block, stamp, length, stamped)
            if wrong:
                where = f"checkpoint {event.checkpoint} names block {block:016x} of {event.group} with stamp {stamp} and {length} bytes"
                self.fail(f"{where}; {wrong}", *evidence, place_in_trace(stamped))
            else:
                self.checked += 1

    def _may_go(self, block: int, held: ReportedReplica, stamped: Stamped) -> bool:
        """Whether what came after the rollback allows this removal: the file was deleted, or the group went back again, to before the block."""
        if held.removal == FREED:
            return held.at_ns > stamped.at_ns
        event = stamped.event
        assert isinstance(event, TakenBack)
        begun = (number for number, at_ns in self._began_ns[event.group].items() if at_ns <= held.at_ns)
        void = self._void(event.group, max(begun, default=0), event.incarnation + 1)
        return any(first <= block < end for first, end in void)

    def _fault(
        self, block: int, stamp: int, length: int, stamped: Stamped
    ) -> tuple[str, list[tuple[str, int]]]:
        """The fault of the replicas of a block with this stamp and length; empty when there is none."""

        def fits(held: ReportedReplica) -> bool:
            return held.stamp == stamp and held.length in (length, UNKNOWN)

        holders, lost = self._replicas.holders(block), self._replicas.lost(block)
        if any(map(fits, holders.values())):
            return "", []
        for node, held in lost.items():
            took = FROM_ALL.get(held.removal, "")
            if fits(held) and took and not self._may_go(block, held, stamped):
                return f"{node} {took}, and no data node has it any more", [held.evidence]
        if any(map(fits, lost.values())):
            return "", []
        for node, held in holders.items():
            if held.stamp == stamp:
                return f"{node} has {held.length} bytes of it", [held.evidence]
        return "", []
