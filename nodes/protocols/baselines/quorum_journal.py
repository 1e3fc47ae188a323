"""The shared journal on a quorum of journal nodes (Hadoop's Quorum Journal Manager): recovery and reading; `quorum_writer.py` writes.

What any majority has finished or acknowledged survives: the writer's epoch shuts earlier ones out of a majority, and the open segment ends where
the node of the highest epoch, and then of the longest journal, says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from nodes.config import MILLISECOND, ClusterConfig
from nodes.metadata_server.own_journal import OwnJournal
from nodes.protocols.baselines.quorum_writer import QuorumWriter
from nodes.protocols.baselines.shared_journal import BeginsLater
from nodes.replicas.disks import Roll
from nodes.replicas.view import GlobalView, ViewMoved
from nodes.trace.ignoring import Ignoring
from nodes.wire.calls import Calls
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
from nodes.world import ConnectionLoss, World

ASK_AGAIN_NS = 100 * MILLISECOND
READ_NS = 300 * MILLISECOND


def end_of_journal(promises: dict[str, EpochPromised]) -> tuple[Mark, str]:
    """The mark with which the journal ends, and a node that has all of it: the finished part, and behind it the best open segment.

    A node that missed the end of a segment goes on writing: it has what was finished elsewhere, in one segment, if its writer is not an earlier one
    than whoever finished that.
    """
    _, whole = max((promises[node].finished.sn, node) for node in promises)
    finished = promises[whole].finished
    decided_in = max(_decided_in(told) for told in promises.values() if told.finished == finished)
    still_open = [
        (_decided_in(told), told.last.sn, node)
        for node, told in promises.items()
        if told.last.sn > finished.sn and (told.finished == finished or _decided_in(told) >= decided_in)
    ]
    if not still_open:
        return finished, whole
    _, _, best = max(still_open)
    return promises[best].last, best


def _decided_in(told: EpochPromised) -> int:
    """The last epoch that said how the journal goes on there."""
    return max(told.written_in, told.accepted_in)


class QuorumJournal:
    """`finished_only`: read nothing of the segment that is being written, as Hadoop's standby does."""

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
        self._replaced_votes = cluster.mutations.replaced_disk_votes
        self._disks: dict[str, int] = {}
        """Of the nodes that count: what the view's record said last."""
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
        self._heard: dict[str, Any] = {}
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
                self._ignoring.tell(peer, message, "it keeps no journal of this cluster")
            elif self._writer is None:
                self._ignoring.tell(peer, message, "this server writes no journal")
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
            self._ignoring.tell(peer, message, "it keeps no journal of this cluster")
        elif message.epoch != self._epoch:
            told = f"of epoch {message.epoch}; this is epoch {self._epoch}"
            self._ignoring.tell(peer, message, told)
        elif type(message).__name__ == self._waited_for:
            self._heard[peer] = message
            self._more.set()

    # --- recovery ----------------------------------------------------------------------------------------------

    async def recover(self, epoch: int, timeout_ns: int) -> int | None:
        self._epoch, self._writer = epoch, None
        self._disks = (await self._view.configuration())[0].disks
        deadline_ns = self._world.clock.monotonic_ns() + timeout_ns
        promises = await self._heard_from(
            NewEpoch(self._number, epoch), EpochPromised, self._suffices, deadline_ns
        )
        if promises is None:
            return None
        last, source = end_of_journal(promises)
        if (
            await self._majority(
                AcceptJournal(self._number, epoch, last, source), JournalAccepted, deadline_ns
            )
            is None
        ):
            return None
        finished = await self._majority(
            FinishSegment(self._number, epoch, last), SegmentFinished, deadline_ns
        )
        if finished is None:
            return None
        whole = {node: message.disk for node, message in finished.items()}
        return last.sn if await self._name_disks(whole) else None

    def _suffices(self) -> bool:
        """Whether a majority has promised, and among them so many with the recorded disks that every majority of those has one; or every node has
        (safety rule 23). A node whose disk is not recorded yet was never counted."""
        named = {node: self._disks[node] for node in self._nodes if node in self._disks}
        disks = {node: promise.disk for node, promise in self._heard.items()}
        majority = len(self._nodes) // 2 + 1
        roll = Roll(self._nodes, named, self._replaced_votes)
        witnesses = (len(named) or len(self._nodes)) - majority + 1
        return len(disks) >= majority and roll.suffices(max(1, witnesses), disks)

    async def _name_disks(self, whole: dict[str, int]) -> bool:
        """Records the disks of nodes that have everything that any disk of theirs acknowledged. False: it may not be recorded.

        Raises LostLock, CoordinationError.
        """
        stored, version = await self._view.configuration()
        disks = {**stored.disks, **whole}
        if disks != stored.disks:
            new = msgspec.structs.replace(stored, number=stored.number + 1, disks=disks)
            try:
                await self._view.guarded([self._view.configuration_change(new, version)])
            except (ViewMoved, ConnectionLoss):
                return False
        self._disks = disks
        return True

    async def _majority(
        self, question: Message, reply: type[Message], deadline_ns: int
    ) -> dict[str, Any] | None:
        """Asks until more than half have answered; None when the time is over."""
        half = len(self._nodes) // 2
        return await self._heard_from(question, reply, lambda: len(self._heard) > half, deadline_ns)

    async def _heard_from(
        self, question: Message, reply: type[Message], enough: Callable[[], bool], deadline_ns: int
    ) -> dict[str, Any] | None:
        clock = self._world.clock
        self._heard, self._waited_for = {}, reply.__name__
        while not enough():
            if clock.monotonic_ns() >= deadline_ns:
                return None
            for node in self._nodes:
                if node not in self._heard:
                    self._world.network.send(node, question)
            self._more.clear()
            timer = clock.call_later(ASK_AGAIN_NS, self._more.set)
            await self._more.wait()
            timer.cancel()
        self._waited_for = ""
        return self._heard

    # --- reading -----------------------------------------------------------------------------------------------

    async def read(self, from_sn: int) -> list[bytes]:
        """From one node after the other: whatever a node gives is right."""
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

    async def begin(self, epoch: int, last: Mark, timeout_ns: int) -> QuorumWriter | None:
        self._writer = QuorumWriter(
            self._world, {node: self._disks.get(node, 0) for node in self._nodes}, epoch, last, self._local,
            self._patience_ns, self._segment_ns, self._name_disks,
        )  # fmt: skip
        return self._writer
