"""One group's part in marking a checkpoint, for one tenure of its active (CFS §4.3, CLMark; safety rule 13).

`GroupBarrier.take_part` is the algorithm. The group takes no requests and refuses new operations of other groups. It finishes its open operations
and writes the barrier when all groups have drained. It resumes only when the outcome is decided, by the time server or, after too long a wait, by
its own VOID.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import partial
from typing import Any

from nodes.config import MILLISECOND, SECOND
from nodes.families import family_named
from nodes.metadata.records import BarrierRecord
from nodes.metadata_server.checkpoints import messages as m
from nodes.metadata_server.checkpoints.ledger import PENDING, Barrier
from nodes.metadata_server.replica import GroupReplica
from nodes.metadata_server.request_handler import RequestHandler
from nodes.scope import Scope
from nodes.slots import GroupLog, RecordWriter
from nodes.trace.checkpoints import BarrierWritten, BlocksAtBarrier
from nodes.wire.messages import Message, Reply
from nodes.world import CoordinationError, wait_at_most

PAPER = "CFS §4.3, Alg. 3"
LOOK_NS = 5 * MILLISECOND
BLOCKS_REPORTED = 500
"""Largest number of blocks that one event lists."""
ASK_NS = 100 * MILLISECOND
PATIENCE_NS = 6 * SECOND
"""Time for which a group waits for the outcome before it tries to void the checkpoint."""


class Part:
    """One group's part in one checkpoint: what messages bring to it, and what replies wait for. The values are None when the part is over before."""

    def __init__(self, name: str):
        loop = asyncio.get_running_loop()
        self.name = name
        self.drained_sn: asyncio.Future[int | None] = loop.create_future()
        self.order: asyncio.Future[m.WriteBarrier | None] = loop.create_future()
        self.barrier: asyncio.Future[Barrier | None] = loop.create_future()
        self.hint = asyncio.Event()
        """The time server reports that the outcome is decided."""
        self.outcome: asyncio.Future[str] = loop.create_future()

    @property
    def over(self) -> bool:
        return self.outcome.done()

    def end(self, outcome: str) -> None:
        _resolve(self.outcome, outcome)
        for future in (self.drained_sn, self.order, self.barrier):
            _resolve(future, None)


def _resolve(future: asyncio.Future[Any], value: object) -> None:
    if not future.done():
        future.set_result(value)


class GroupBarrier:
    """Takes part in at most one checkpoint at a time."""

    def __init__(
        self,
        replica: GroupReplica[GroupLog],
        scope: Scope,
        epoch: int,
        writer: RecordWriter,
        answering: RequestHandler,
    ):
        self._replica = replica
        self._scope = scope
        self._epoch = epoch
        self._writer = writer
        self._answering = answering
        self._part: Part | None = None

    # --- messages --------------------------------------------------------------------------------------------------

    def on_message(self, peer: str, message: Message) -> None:
        """Messages of the time server. The reply to a question is sent when the requested step is done."""
        if isinstance(message, m.Drain):
            self._scope.spawn(self._reply(peer, message.call, self.drain(message)), "drain")
        elif isinstance(message, m.WriteBarrier):
            self._scope.spawn(self._reply(peer, message.call, self.write(message)), "barrier")
        elif isinstance(message, m.CheckpointDecided):
            self._on_decided(message.name)

    def _on_decided(self, name: str) -> None:
        if self._part is not None and self._part.name == name:
            self._part.hint.set()

    async def _reply(self, peer: str, call: int, work: Coroutine[None, None, Reply | None]) -> None:
        reply = await work
        if reply is not None:
            reply.call = call
            self._replica.world.network.send(peer, reply)

    async def drain(self, question: m.Drain) -> m.Drained | None:
        """The reply when no operation is open in this group; None when the group must not take part, or no longer does."""
        part = await self._join(question.name)
        sn = await part.drained_sn if part is not None else None
        return None if sn is None else m.Drained(0, self._epoch, sn)

    async def write(self, question: m.WriteBarrier) -> m.BarrierStands | None:
        """The reply when the barrier is committed; None when this group has not drained for this checkpoint, or no longer takes part."""
        part = await self._join(question.name, question) if question.at_once else self._part
        if part is None or part.name != question.name or not (part.drained_sn.done() or question.at_once):
            return None
        _resolve(part.order, question)
        barrier = await part.barrier
        return (
            None if barrier is None else m.BarrierStands(0, barrier.mark, barrier.digest, barrier.next_block)
        )

    async def _join(self, name: str, at_once: m.WriteBarrier | None = None) -> Part | None:
        """The part in a pending checkpoint, which begins here. None when it is not pending, or when another one is being marked."""
        if self._part is None:
            try:
                found = await self._replica.ledger.find(name)
            except CoordinationError:
                return None
            pending = found is not None and found.state == PENDING
            if not pending or found.epochs.get(self._replica.group.name) != self._epoch:  # type: ignore[union-attr]
                return None
        if self._part is None:
            part = self._part = Part(name)
            if at_once is not None:
                part.order.set_result(at_once)
            self._scope.spawn(self.take_part(part), f"part in checkpoint {name}")
        return self._part if self._part.name == name else None

    # --- Algorithm 3 -----------------------------------------------------------------------------------------------

    async def take_part(self, part: Part) -> None:
        """Algorithm 3, CLMark, by its lines, for one group. A line ends early when the outcome is decided before.

        With the hole `one_phase_barrier` open, the marker is there from the beginning, and the group waits for no other one.
        """
        self._stop_service(part)  # 18, 32
        at_once = part.order.done()
        if not at_once:
            await self._commit_journals(part)  # 18, 32
        order = await part.order  # 22, 29: the marker
        if order is not None:
            await self._write_flag(part, order)  # 19, 33
        outcome = "" if at_once else await part.outcome
        self._resume_service(part, outcome)

    def _stop_service(self, part: Part) -> None:
        self._answering.backlog.hold()
        self._answering.draining = True
        self._step("drain", part.name, "takes no requests")
        self._scope.spawn(self._learn_outcome(part), "outcome")

    async def _commit_journals(self, part: Part) -> None:
        """Finishes the open operations, and commits."""
        while not self._quiet:
            await self._replica.world.clock.sleep(LOOK_NS)
            if part.over:
                return
        sn = self._replica.log.last.sn
        self._step("drained", part.name, f"nothing is open at sn {sn}")
        _resolve(part.drained_sn, sn)

    async def _write_flag(self, part: Part, order: m.WriteBarrier) -> None:
        """Writes the barrier as a journal group of its own."""
        replica, writer = self._replica, self._writer
        while not (writer.idle and (order.at_once or self._quiet)):
            await replica.world.clock.sleep(LOOK_NS)
            if part.over:
                return
        namespace = replica.state.namespace
        digest, bodies = namespace.digest, namespace.tree.bodies
        blocks = [(b.number, b.stamp, b.length) for body in bodies for b in body.blocks if b.length]
        sn, _ = writer.apply(BarrierRecord(self._answering.now_ns(), order.name, order.stamp_ns))
        writer.close_group()
        writer.after_commit(
            partial(self._on_flag_committed, part, order.stamp_ns, sn, digest, bodies.next_block, blocks)
        )
        await part.barrier

    def _on_flag_committed(
        self,
        part: Part,
        stamp_ns: int,
        sn: int,
        digest: int,
        next_block: int,
        blocks: list[tuple[int, int, int]],
    ) -> None:
        """The barrier stands in the journal, even when the checkpoint is void by now."""
        group, mark = self._replica.group.name, self._replica.log.mark_at(sn)
        assert mark is not None
        barrier = Barrier(mark, f"{digest:016x}", next_block)
        self._replica.world.trace.emit(
            BarrierWritten(
                group, part.name, stamp_ns, mark.sn, mark.epoch, mark.crc, digest, barrier.next_block
            )
        )
        self._scope.spawn(self._report_blocks(part.name, blocks), "blocks at the barrier")
        if family_named(self._replica.config.cluster.protocol).journal_nodes:
            # A server that reads the journal learns of a commit with the next group.
            self._scope.spawn(self._show_commit(), "empty group")
        _resolve(part.barrier, barrier)

    async def _show_commit(self) -> None:
        while not self._writer.idle:
            await self._replica.world.clock.sleep(LOOK_NS)
        self._writer.close_group()

    async def _report_blocks(self, name: str, blocks: list[tuple[int, int, int]]) -> None:
        """Emits the list of blocks with which data nodes are compared after a rollback to this checkpoint."""
        group, trace = self._replica.group.name, self._replica.world.trace
        for start in range(0, len(blocks), BLOCKS_REPORTED):
            end = start + BLOCKS_REPORTED
            trace.emit(BlocksAtBarrier(group, name, blocks[start:end], end < len(blocks)))
            await self._replica.world.clock.sleep(0)

    async def _learn_outcome(self, part: Part) -> None:
        """Ends the part when the outcome is decided."""
        clock, ledger = self._replica.world.clock, self._replica.ledger
        deadline_ns = clock.monotonic_ns() + PATIENCE_NS
        outcome = PENDING
        while outcome == PENDING:
            await wait_at_most(clock, part.hint, ASK_NS)
            part.hint.clear()
            try:
                if clock.monotonic_ns() >= deadline_ns:
                    outcome = await ledger.void(part.name)
                else:
                    found = await ledger.find(part.name)
                    outcome = found.state if found is not None else ""
            except CoordinationError:
                continue
        part.end(outcome or "gone")

    def _resume_service(self, part: Part, outcome: str) -> None:
        self._part = None
        detail = "takes requests again" if outcome else "does not wait for the others"
        self._step("resume", part.name, detail, outcome)
        self._answering.draining = False
        self._answering.backlog.release()
        self._answering.backlog.wake()

    @property
    def _quiet(self) -> bool:
        """Everything is committed, and no operation shared with another group is open."""
        crossing = self._replica.state.namespace.crossing
        is_open = crossing.begun or crossing.decided or crossing.promised or crossing.voted
        shares = is_open or bool(self._answering.shared)
        if self._replica.config.cluster.mutations.barrier_inside_operation:
            shares = False
        return self._writer.idle and not (self._writer.stalled or shares)

    def _step(self, step: str, name: str, detail: str, outcome: str = "") -> None:
        self._replica.step("checkpoint", step, PAPER, detail, self._epoch, checkpoint=name, outcome=outcome)
