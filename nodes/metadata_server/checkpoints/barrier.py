"""One group's part in marking a checkpoint, for one tenure of its active (CFS §4.3, CLMark; safety rule 13).

The group takes no requests and refuses new operations of other groups. It finishes its open operations and writes the barrier when all groups
have drained. It resumes only when the outcome is decided, by the time server or, after too long a wait, by its own VOID.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

from nodes.config import MILLISECOND, SECOND
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


class GroupBarrier:
    """Holds intake for at most one checkpoint at a time."""

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
        self._name = ""
        """Name of the checkpoint for which intake is held."""
        self._drained = False
        self._writes = False
        self._written: Barrier | None = None
        self._decided = asyncio.Event()

    # --- messages --------------------------------------------------------------------------------------------------

    def on_message(self, peer: str, message: Message) -> None:
        """Messages of the time server. The reply to a question is sent when the requested step is done."""
        if isinstance(message, m.Drain):
            self._scope.spawn(self._reply(peer, message.call, self.drain(message)), "drain")
        elif isinstance(message, m.WriteBarrier):
            self._scope.spawn(self._reply(peer, message.call, self.write(message)), "barrier")
        elif isinstance(message, m.CheckpointDecided) and message.name == self._name:
            self._decided.set()

    async def _reply(self, peer: str, call: int, work: Coroutine[None, None, Reply | None]) -> None:
        reply = await work
        if reply is not None:
            reply.call = call
            self._replica.world.network.send(peer, reply)

    # --- procedures ------------------------------------------------------------------------------------------------

    async def drain(self, question: m.Drain) -> m.Drained | None:
        """Lines 18 and 32: stops service and commits. Returns when no operation is open in this group; None when the group must not take part."""
        if not await self._joins(question.name):
            return None
        while not self._quiet:
            await self._replica.world.clock.sleep(LOOK_NS)
            if self._name != question.name:
                return None
        if not self._drained:
            self._drained = True
            self._step("drained", question.name, f"nothing is open at sn {self._replica.log.last.sn}")
        return m.Drained(0, self._epoch, self._replica.log.last.sn)

    async def write(self, question: m.WriteBarrier) -> m.BarrierStands | None:
        """Lines 19 and 33: writes the flag. Returns when the barrier is committed; None when this group has not drained for this checkpoint."""
        if not question.name:
            return None
        if question.at_once and await self._joins(question.name):
            self._drained = True
        while self._name == question.name and self._drained and self._written is None:
            if not self._writes and self._writer.idle and (question.at_once or self._quiet):
                return await self._write(question)
            await self._replica.world.clock.sleep(LOOK_NS)
        if self._name != question.name or self._written is None:
            return None
        return self._stands(self._written)

    def _stands(self, written: Barrier) -> m.BarrierStands:
        return m.BarrierStands(0, written.mark, written.digest, written.next_block)

    async def _write(self, question: m.WriteBarrier) -> m.BarrierStands:
        """Writes the barrier as a journal group of its own."""
        replica, writer = self._replica, self._writer
        self._writes = True
        digest, bodies = replica.state.namespace.digest, replica.state.namespace.tree.bodies
        blocks = [(b.number, b.stamp, b.length) for body in bodies for b in body.blocks if b.length]
        writer.apply(BarrierRecord(self._answering.now_ns(), question.name, question.stamp_ns))
        writer.close_group()
        mark = replica.log.last
        committed = asyncio.get_running_loop().create_future()
        writer.after_commit(lambda: committed.set_result(None))
        await committed
        self._written = Barrier(mark, f"{digest:016x}", bodies.next_block)
        replica.world.trace.emit(
            BarrierWritten(
                replica.group.name,
                question.name,
                question.stamp_ns,
                mark.sn,
                mark.epoch,
                mark.crc,
                digest,
                bodies.next_block,
            )
        )
        self._scope.spawn(self._report_blocks(question.name, blocks), "blocks at the barrier")
        stands = self._stands(self._written)
        if question.at_once:
            self._resume("does not wait for the others")
        return stands

    async def _report_blocks(self, name: str, blocks: list[tuple[int, int, int]]) -> None:
        """Emits the list of blocks with which data nodes are compared after a rollback to this checkpoint."""
        group, trace = self._replica.group.name, self._replica.world.trace
        for start in range(0, len(blocks), BLOCKS_REPORTED):
            end = start + BLOCKS_REPORTED
            trace.emit(BlocksAtBarrier(group, name, blocks[start:end], end < len(blocks)))
            await self._replica.world.clock.sleep(0)

    async def _joins(self, name: str) -> bool:
        """Holds intake for a pending checkpoint. False when it is not pending, or when another one is being marked."""
        if self._name:
            return self._name == name
        try:
            found = await self._replica.ledger.find(name)
        except CoordinationError:
            return False
        if (
            found is None
            or found.state != PENDING
            or found.epochs.get(self._replica.group.name) != self._epoch
        ):
            return False
        if not self._name:
            self._name, self._drained, self._writes, self._written = name, False, False, None
            self._decided.clear()
            self._answering.backlog.hold()
            self._answering.draining = True
            self._step("drain", name, "takes no requests")
            self._scope.spawn(self._await_outcome(name), "outcome")
        return self._name == name

    async def _await_outcome(self, name: str) -> None:
        """Resumes intake only after the outcome is decided."""
        clock = self._replica.world.clock
        deadline_ns = clock.monotonic_ns() + PATIENCE_NS
        outcome = PENDING
        while outcome == PENDING:
            await wait_at_most(clock, self._decided, ASK_NS)
            self._decided.clear()
            try:
                if clock.monotonic_ns() >= deadline_ns:
                    outcome = await self._replica.ledger.void(name)
                else:
                    found = await self._replica.ledger.find(name)
                    outcome = found.state if found is not None else ""
            except CoordinationError:
                continue
        if self._name == name:
            self._resume("takes requests again", outcome or "gone")

    def _resume(self, detail: str, outcome: str = "") -> None:
        name, self._name = self._name, ""
        self._step("resume", name, detail, outcome)
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
