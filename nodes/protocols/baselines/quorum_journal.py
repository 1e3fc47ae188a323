"""The shared journal on a quorum of journal nodes (Hadoop's Quorum Journal Manager): recovery and reading; `quorum_writer.py` writes.

Groups that any majority has finished or acknowledged survive. The writer's epoch shuts earlier writers out of a majority. The open segment
ends as the node with the highest epoch, and among these the longest journal, has it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from nodes.calls import Calls
from nodes.config import MILLISECOND, ClusterConfig
from nodes.ignored_messages import Ignoring
from nodes.metadata_server.own_journal import OwnJournal
from nodes.mutations import NO_MUTATIONS, Mutations
from nodes.protocols.baselines.quorum_writer import QuorumWriter
from nodes.protocols.baselines.shared_journal import BeginsLater
from nodes.replicas.disks import Roll
from nodes.replicas.grants import NEVER_NS, Grants
from nodes.replicas.view import GlobalView, ViewMoved
from nodes.wire.journal_messages import (
    AcceptJournal,
    EpochPromised,
    FinishSegment,
    HigherEpoch,
    JournalAccepted,
    JournalRead,
    JournalWritten,
    NewEpoch,
    OutOfStep,
    ReadJournal,
    SegmentFinished,
)
from nodes.wire.messages import Mark, Message
from nodes.world import World, wait_at_most

ASK_AGAIN_NS = 100 * MILLISECOND
READ_NS = 300 * MILLISECOND


def end_of_journal(
    promises: dict[str, EpochPromised], mutations: Mutations = NO_MUTATIONS
) -> tuple[Mark, str]:
    """The end of the journal, and a node that has all of it: the finished part, and behind it the best open segment.

    A node that missed the end of a segment continues its open one. That segment includes the groups finished elsewhere, if its writer is not
    earlier than the one that finished those.
    """
    _, whole = max((promises[node].finished.sn, node) for node in promises)
    finished = promises[whole].finished
    decided_in = max(_decided_in(reported) for reported in promises.values() if reported.finished == finished)
    still_open = [
        (_decided_in(reported), reported.last.sn, node)
        for node, reported in promises.items()
        if reported.last.sn > finished.sn
        and (
            reported.finished == finished
            or (_decided_in(reported) >= decided_in and not mutations.missed_start_passed_over)
        )
    ]
    if not still_open:
        return finished, whole
    _, _, best = max(still_open)
    return promises[best].last, best


def _decided_in(reported: EpochPromised) -> int:
    """The last epoch that decided the continuation of the journal on this node."""
    return max(reported.written_in, reported.accepted_in)


class QuorumJournal:
    """`finished_only`: the segment that is being written is not read, as in Hadoop's standby."""

    def __init__(
        self,
        world: World,
        cluster: ClusterConfig,
        view: GlobalView,
        local: OwnJournal,
        patience_ns: int,
        finished_only: bool = False,
        segment_ns: int = 0,
    ):
        self._world = world
        self._nodes = cluster.journal.nodes
        self._view = view
        self._mutations = cluster.mutations
        self._nodes_grant = cluster.detection == "members"
        self._disks: dict[str, int] = {}
        """Disks of the nodes that count, as the view's record named them last."""
        self._local = local
        self._number = local.number
        self._patience_ns = patience_ns
        self._finished_only = finished_only
        self._segment_ns = segment_ns
        self._calls = Calls(world)
        self._ignoring = Ignoring(world)
        self._writer: QuorumWriter | None = None
        self._epoch = 0
        self.promised = 0
        self.grants_end_ns = NEVER_NS
        self._received: dict[str, Any] = {}
        self._waited_for = ""
        self._more = asyncio.Event()
        self._turn = 0
        self.handlers: dict[type[Message], Callable[[str, Any], None]] = {
            EpochPromised: self._on_reply,
            JournalAccepted: self._on_reply,
            SegmentFinished: self._on_finished,
            HigherEpoch: self._on_higher_epoch,
            JournalWritten: self._to_writer(QuorumWriter.on_written),
            OutOfStep: self._to_writer(QuorumWriter.on_out_of_step),
            JournalRead: self._calls.on_reply,
        }

    def _to_writer(self, step: Callable[[QuorumWriter, str, Any], None]) -> Callable[[str, Any], None]:
        def deliver(peer: str, message: Any) -> None:
            if peer not in self._nodes:
                self._ignoring.report(peer, message, "it keeps no journal of this cluster")
            elif self._writer is None:
                self._ignoring.report(peer, message, "this server writes no journal")
            else:
                step(self._writer, peer, message)

        return deliver

    def _on_higher_epoch(self, peer: str, message: HigherEpoch) -> None:
        if peer in self._nodes:
            self.promised = max(self.promised, message.promised)
        self._to_writer(QuorumWriter.on_higher_epoch)(peer, message)

    def _on_finished(self, peer: str, message: SegmentFinished) -> None:
        self._on_reply(peer, message)
        if self._writer is not None and peer in self._nodes:
            self._writer.on_finished(peer, message)

    def _on_reply(self, peer: str, message: Any) -> None:
        if peer not in self._nodes:
            self._ignoring.report(peer, message, "it keeps no journal of this cluster")
        elif message.epoch != self._epoch:
            reported = f"of epoch {message.epoch}; this is epoch {self._epoch}"
            self._ignoring.report(peer, message, reported)
        elif type(message).__name__ == self._waited_for:
            self._received[peer] = message
            self._more.set()

    # --- recovery ----------------------------------------------------------------------------------------------

    async def recover(self, epoch: int, timeout_ns: int) -> int | None:
        self._epoch, self._writer = epoch, None
        self._disks = (await self._view.configuration())[0].disks
        deadline_ns = self._world.clock.monotonic_ns() + timeout_ns
        promises = await self._received_from(
            NewEpoch(self._number, epoch), EpochPromised, self._suffices, deadline_ns
        )
        if promises is None:
            return None
        self.grants_end_ns = self._end_of_grants(promises)
        last, source = end_of_journal(promises, self._mutations)
        # A new disk has forgotten what the old one promised. Unless it is recorded before a node shows the end, a later writer may decide another.
        accept = AcceptJournal(self._number, epoch, last, source)
        if not await self._recorded_majority(accept, JournalAccepted, deadline_ns):
            return None
        finish = FinishSegment(self._number, epoch, last)
        return last.sn if await self._recorded_majority(finish, SegmentFinished, deadline_ns) else None

    def _suffices(self) -> bool:
        """Whether a majority has promised and, among it, so many nodes with recorded disks that every majority of those has one; or whether
        every node has promised (safety rule 23). A node whose disk is not recorded yet was never counted."""
        named = {node: self._disks[node] for node in self._nodes if node in self._disks}
        disks = {node: promise.disk for node, promise in self._received.items()}
        majority = len(self._nodes) // 2 + 1
        roll = Roll(self._nodes, named, self._mutations.replaced_disk_votes)
        witnesses = (len(named) or len(self._nodes)) - majority + 1
        return len(disks) >= majority and roll.suffices(max(1, witnesses), disks)

    def _end_of_grants(self, promises: dict[str, EpochPromised]) -> int:
        """Time when a majority grants no earlier epoch any more (safety rule 26). Each of these nodes has promised, and a node that has lost its
        promise since has a disk that no earlier writer can record."""
        if not self._nodes_grant:
            return NEVER_NS
        if self._mutations.grant_outrun:
            return 0
        left_ns = sorted(each.grant_ns for each in promises.values())[len(self._nodes) // 2]
        return self._world.clock.monotonic_ns() + left_ns

    async def _name_disks(self, whole: dict[str, int]) -> bool:
        """Records the disks of nodes that have everything that any disk of theirs acknowledged. False when the record has changed meanwhile.

        Raises LostLock, CoordinationError.
        """
        stored, version = await self._view.configuration()
        disks = {**stored.disks, **whole}
        # Written even if the record has these disks already: it may be a later holder of the lock that counts with them.
        new = msgspec.structs.replace(stored, number=stored.number + 1, disks=disks)
        try:
            await self._view.guarded([self._view.configuration_change(new, version)])
        except ViewMoved:
            return False
        self._disks = disks
        return True

    async def _recorded_majority(self, question: Message, reply: type[Message], deadline_ns: int) -> bool:
        """Whether more than half of the nodes have replied in time, and their disks are on record. Raises LostLock, CoordinationError."""
        half = len(self._nodes) // 2
        received = await self._received_from(question, reply, lambda: len(self._received) > half, deadline_ns)
        if received is None:
            return False
        whole = {node: message.disk for node, message in received.items()}
        return self._disks | whole == self._disks or await self._name_disks(whole)

    async def _received_from(
        self, question: Message, reply: type[Message], enough: Callable[[], bool], deadline_ns: int
    ) -> dict[str, Any] | None:
        clock = self._world.clock
        self._received, self._waited_for = {}, reply.__name__
        while not enough():
            if clock.monotonic_ns() >= deadline_ns:
                return None
            for node in self._nodes:
                if node not in self._received:
                    self._world.network.send(node, question)
            self._more.clear()
            await wait_at_most(clock, self._more, ASK_AGAIN_NS)
        self._waited_for = ""
        return self._received

    # --- reading -----------------------------------------------------------------------------------------------

    async def read(self, from_sn: int) -> list[bytes]:
        """Groups of the first node that answers: all nodes return committed groups only."""
        begins_later = False
        for _ in self._nodes:
            node = self._nodes[self._turn % len(self._nodes)]
            question = ReadJournal(0, self._number, from_sn, 0, self._finished_only)
            reply = await self._calls.ask(node, question, READ_NS)
            if isinstance(reply, JournalRead) and reply.from_sn == from_sn and reply.groups:
                return reply.groups
            begins_later |= isinstance(reply, JournalRead) and reply.base.sn >= from_sn
            self._turn += 1
        if begins_later:
            raise BeginsLater(f"the shared journal has no sn {from_sn} any more")
        return []

    # --- writing -----------------------------------------------------------------------------------------------

    async def begin(self, epoch: int, last: Mark, timeout_ns: int, grants: Grants) -> QuorumWriter | None:
        writer = self._writer = QuorumWriter(
            self._world, {node: self._disks.get(node, 0) for node in self._nodes}, epoch, last, self._local,
            self._patience_ns, self._segment_ns, self._name_disks, grants.is_from,
        )  # fmt: skip
        grants.count_over(lambda: writer.granting)
        return writer
