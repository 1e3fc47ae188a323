"""Slot `journal_sync`, mechanism `qjm`: a group is safe when more than half of the journal nodes, and this server, have it durably.

A node that misses a group is sent no further group before the next segment. The next segment begins when a majority has finished the one before.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nodes.config import MILLISECOND, SECOND
from nodes.ignored_messages import Ignoring
from nodes.listeners import Listeners
from nodes.metadata_server.own_journal import OwnJournal
from nodes.protocols.baselines.shared_journal import JournalLost
from nodes.replicas.view import Configuration
from nodes.wire.journal_messages import (
    FinishSegment,
    HigherEpoch,
    JournalWritten,
    OutOfStep,
    PruneJournal,
    SegmentFinished,
    StartSegment,
    WriteJournal,
)
from nodes.wire.messages import JournalGroup, Mark, Message
from nodes.world import ConnectionLoss, World

TICK_NS = 50 * MILLISECOND
SEGMENT_NS = 30 * SECOND
LAGGING_NS = 1 * SECOND
"""Longest time for which a segment is continued with a node out of step."""
PATIENCES = 8
"""The writer gives up, as Hadoop's aborts, after this many times the patience with one node without a majority."""


class JournalNodeProgress:
    """The writer's knowledge of one journal node."""

    def __init__(self, disk: int) -> None:
        self.disk = disk
        """The recorded disk, 0 when none is known; groups on another disk do not count."""
        self.newcomer: tuple[int, int] | None = None
        """Another disk of the node that is in step, and the sn up to which it has everything."""
        self.replaced: dict[int, int] = {}
        """Disks that were recorded earlier in this segment, and the last sn written before they were replaced: up to there they acknowledge too late.
        One that acknowledges a later group or segment is the node's: it was replaced by a late message of an earlier disk."""
        self.in_step = False
        """Whether it has not been left out."""
        self.refused_sn = 0
        """The last group that it has refused in the segment."""
        self.acknowledged_sn = 0
        self.finished_sn = 0

    def refuses(self, previous_sn: int) -> bool:
        """Whether it lacks part of the segment behind this sn. A refusal of what it has acknowledged, or of an earlier segment, is only late.

        The first group is sent again together with the start of the segment, which it may have overtaken, until the node is left out.
        """
        sent_again = previous_sn + 1 if self.in_step else previous_sn
        return self.refused_sn > max(self.acknowledged_sn, sent_again)

    def takes_groups(self, previous_sn: int) -> bool:
        return self.in_step and not self.refuses(previous_sn)


def counted(nodes: dict[str, JournalNodeProgress]) -> list[Configuration]:
    """The nodes with their recorded disks, as a configuration."""
    disks = {name: node.disk for name, node in nodes.items()}
    return [Configuration(0, list(disks), len(disks), disks)]


def without_grant(nodes: dict[str, JournalNodeProgress], grants: Callable[[str, int], bool]) -> list[str]:
    """Nodes that do not grant the lease now. One that missed the takeover grants it when a segment has begun with it."""
    return [name for name, node in nodes.items() if not grants(name, node.disk)]


class QuorumWriter:
    def __init__(
        self,
        world: World,
        disks: dict[str, int],
        epoch: int,
        last: Mark,
        local: OwnJournal,
        patience_ns: int,
        segment_ns: int,
        name_disks: Callable[[dict[str, int]], Awaitable[bool]],
        grants: Callable[[str, int], bool],
    ):
        """`grants`: whether the node with this disk grants this writer the lease now; always true where nodes grant none."""
        self._world = world
        self._ignoring = Ignoring(world)
        self._epoch = epoch
        self._local = local
        self._journal = local.number
        self._patience_ns = patience_ns
        self._segment_ns = segment_ns or SEGMENT_NS
        self.on_progress: Listeners[()] = Listeners()
        self._nodes = {name: JournalNodeProgress(disk) for name, disk in disks.items()}
        self._name_disks = name_disks
        self._grants = grants
        self.granting = counted(self._nodes)
        """The nodes over which grants of the lease are counted."""
        self._own_sn = last.sn
        self._previous = last
        """The mark behind which the segment begins."""
        self._began_ns = 0
        self._lapsed: list[str] = []
        """Nodes that granted nothing when the segment began."""
        self._lapse_ns = LAGGING_NS
        """Age of the segment at which these are given another one, while a majority grants: a node that is down takes none."""
        self._finishing = False
        self._waiting: WriteJournal | None = None
        """The group that will open the next segment."""
        self._in_flight: WriteJournal | None = None
        """The last group of this segment, or of the one that is being finished."""
        self._in_flight_sn = last.sn
        self._since_ns = 0
        """Time when the group was handed to the writer."""
        self._began_sending_ns = 0
        self._sent_ns = 0
        self._lost = ""
        self._start_segment()

    # --- slot --------------------------------------------------------------------------------------------------

    @property
    def configuration_number(self) -> int:
        return 0

    @property
    def lacks_quorum(self) -> bool:
        return False

    def write(self, group: JournalGroup, data: bytes, mark: Mark) -> None:
        self._local.append(group, data, mark)
        message = WriteJournal(self._journal, self._epoch, group.commit_sn, group.previous, data)
        self._in_flight_sn = group.sn
        self._since_ns = self._world.clock.monotonic_ns()
        if not self._finishing and not self._due():
            self._send_group(message)
            return
        self._waiting = message
        if not self._finishing:
            self._finish(group.previous)

    def report_commit(self, sn: int) -> None:
        """The next group carries the commit sn, and with it a standby learns of the last commit."""

    def safe(self, sn: int) -> bool:
        return self._own_sn >= sn and self._many(lambda node: node.acknowledged_sn >= sn)

    def holders(self, sn: int) -> list[str]:
        mine = [self._world.name] if self._own_sn >= sn else []
        return mine + [name for name, node in self._nodes.items() if node.acknowledged_sn >= sn]

    def prune(self, sn: int) -> None:
        self._send_to_all(PruneJournal(self._journal, self._epoch, sn))

    def _many(self, there: Callable[[JournalNodeProgress], bool]) -> bool:
        return sum(there(node) for node in self._nodes.values()) > len(self._nodes) // 2

    # --- steps -------------------------------------------------------------------------------------------------

    def on_own_durable(self, mark: Mark) -> None:
        self._own_sn = mark.sn
        self.on_progress()

    def on_written(self, peer: str, message: JournalWritten) -> None:
        node = self._nodes[peer]
        if not self._is_ours(peer, message) or not self._local.log.holds(message.mark):
            return
        if message.mark.sn <= node.replaced.get(message.disk, -1):
            self._ignoring.report(peer, message, f"from disk {message.disk}, which was replaced")
        elif message.disk != node.disk:
            node.newcomer = (message.disk, message.mark.sn)
        else:
            node.acknowledged_sn = max(node.acknowledged_sn, message.mark.sn)
            self.on_progress()

    def on_out_of_step(self, peer: str, message: OutOfStep) -> None:
        if self._is_ours(peer, message):
            self._nodes[peer].refused_sn = max(self._nodes[peer].refused_sn, message.sn)

    def _is_ours(self, peer: str, message: JournalWritten | OutOfStep) -> bool:
        if message.epoch != self._epoch:
            reported = f"of epoch {message.epoch}; this is epoch {self._epoch}"
            self._ignoring.report(peer, message, reported)
        return message.epoch == self._epoch

    def on_higher_epoch(self, peer: str, message: HigherEpoch) -> None:
        if message.promised > self._epoch:
            self._lost = f"{peer} has promised epoch {message.promised}"
        else:
            self._ignoring.report(peer, message, f"epoch {message.promised} is not above {self._epoch}")

    def on_finished(self, peer: str, message: SegmentFinished) -> None:
        if not self._finishing or message.epoch != self._epoch or message.last != self._previous:
            return
        node = self._nodes[peer]
        if message.disk != node.disk:
            if message.last.sn > node.replaced.get(message.disk, -1):
                node.newcomer = (message.disk, message.last.sn)
            return
        node.finished_sn = message.last.sn
        if self._many(lambda node: node.finished_sn >= self._previous.sn):
            self._finishing = False
            self._start_segment()

    # --- segments ----------------------------------------------------------------------------------------------

    def _due(self) -> bool:
        """Whether a new segment is due. Checked between two groups: a majority has acknowledged everything before."""
        age_ns = self._world.clock.monotonic_ns() - self._began_ns
        lags = not all(node.takes_groups(self._previous.sn) for node in self._nodes.values())
        lapsed = without_grant(self._nodes, self._grants)
        majority_grants = 2 * len(lapsed) < len(self._nodes)
        pause_ns = self._lapse_ns if lapsed == self._lapsed and majority_grants and not lags else LAGGING_NS
        return age_ns > self._segment_ns or bool((lags or lapsed) and age_ns > pause_ns)

    def _finish(self, last: Mark) -> None:
        if last == self._previous:
            self._start_segment()
            return
        self._finishing, self._previous = True, last
        self._began_sending_ns = self._sent_ns = self._world.clock.monotonic_ns()
        self._send_to_all(FinishSegment(self._journal, self._epoch, last))

    def _start_segment(self) -> None:
        self._began_ns = self._world.clock.monotonic_ns()
        lapsed = without_grant(self._nodes, self._grants)
        self._lapse_ns = 2 * self._lapse_ns if lapsed == self._lapsed else LAGGING_NS
        self._lapsed = lapsed
        for node in self._nodes.values():
            node.in_step, node.refused_sn = True, 0
            node.replaced.clear()
        self._in_flight = None
        self._send_to_all(StartSegment(self._journal, self._epoch, self._previous))
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._send_group(waiting)

    def _send_group(self, message: WriteJournal) -> None:
        self._in_flight = message
        self._began_sending_ns = self._sent_ns = self._world.clock.monotonic_ns()
        for name, node in self._nodes.items():
            if node.takes_groups(self._previous.sn):
                self._world.network.send(name, message)

    def _send_to_all(self, message: Message) -> None:
        for name in self._nodes:
            self._world.network.send(name, message)

    # --- time --------------------------------------------------------------------------------------------------

    async def keep(self) -> None:
        while not self._lost:
            await self._world.clock.sleep(TICK_NS)
            self._tick()
            await self._admit_newcomers()
        raise JournalLost(self._lost)

    async def _admit_newcomers(self) -> None:
        """Admits nodes with replaced disks. A new disk counts once it has all that the old one acknowledged, and is recorded."""
        come = {
            name: node.newcomer
            for name, node in self._nodes.items()
            if node.newcomer is not None and node.newcomer[1] >= node.acknowledged_sn
        }
        for name in come:
            # The record may name the new disk at any time from now on. What the old one acknowledges late, the new one may lack.
            self._nodes[name].replaced[self._nodes[name].disk] = self._in_flight_sn
            self._nodes[name].disk = 0
        if not come:
            return
        self.granting = counted(self._nodes)
        try:
            recorded = await self._name_disks({name: disk for name, (disk, _) in come.items()})
        except ConnectionLoss:
            return  # Tried again with the next tick, if this tenure lasts.
        if not recorded:
            return
        for name, (disk, sn) in come.items():
            node = self._nodes[name]
            node.disk, node.newcomer = disk, None
            node.acknowledged_sn = max(node.acknowledged_sn, sn)
        self.granting = counted(self._nodes)
        self.on_progress()

    def _tick(self) -> None:
        now = self._world.clock.monotonic_ns()
        quiet = self.safe(self._in_flight_sn)
        if quiet and not self._finishing:
            self._leave_out(now)
            if self._due():
                self._finish(self._local.log.last)
            return
        if not quiet and not self._many(lambda node: not node.refuses(self._previous.sn)):
            # What they refused is not sent again, so that no answer can come.
            self._lost = "no majority of the journal nodes can continue the segment"
        elif now - self._since_ns > PATIENCES * self._patience_ns and not quiet:
            self._lost = "no majority of the journal nodes has answered"
        elif now - self._sent_ns > 2 * TICK_NS:
            self._send_again(now)
        self._leave_out(now)

    def _send_again(self, now: int) -> None:
        self._sent_ns = now
        if now - self._began_sending_ns > self._patience_ns:
            # No majority answers: a disk that counts as replaced may be the node's, and the majority may need it.
            for node in self._nodes.values():
                node.replaced.clear()
        if self._finishing:
            self._send_to_all(FinishSegment(self._journal, self._epoch, self._previous))
            return
        for name, node in self._nodes.items():
            if self._in_flight is None or node.acknowledged_sn >= self._in_flight_sn:
                continue
            if node.takes_groups(self._previous.sn):
                if self._in_flight.previous == self._previous:
                    self._world.network.send(name, StartSegment(self._journal, self._epoch, self._previous))
                self._world.network.send(name, self._in_flight)

    def _leave_out(self, now: int) -> None:
        """Leaves out nodes whose acknowledgement is late: they are sent no group before the next segment. While no majority has the group, only those
        that refused it: the others still have to be asked.
        """
        if self._in_flight is None or now - self._began_sending_ns <= self._patience_ns:
            return
        wanted_sn = self._in_flight.previous.sn + 1
        has_majority = self._many(lambda node: node.acknowledged_sn >= wanted_sn)
        for node in self._nodes.values():
            if node.acknowledged_sn < wanted_sn and (has_majority or node.refused_sn >= wanted_sn):
                node.in_step = False
