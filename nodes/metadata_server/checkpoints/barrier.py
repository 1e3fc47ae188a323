"""One group's part in marking a checkpoint, for one tenure of its active (CFS §4.3, CLMark; safety rule 13).

It takes no requests and refuses whatever another group would begin with it, lets what is open come to its end, writes the barrier when all groups
have got so far, and goes on only when the outcome is decided: by the time server, or by its own VOID when that takes too long.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

from nodes.config import MILLISECOND, SECOND
from nodes.metadata.records import BarrierRecord
from nodes.metadata_server.answering import Answering
from nodes.metadata_server.checkpoints import messages as m
from nodes.metadata_server.checkpoints.ledger import PENDING, Barrier
from nodes.metadata_server.replica import GroupReplica
from nodes.scope import Scope
from nodes.slots import GroupLog, RecordWriter
from nodes.trace.checkpoints import BarrierWritten, BlocksAtBarrier
from nodes.wire.calls import Reply
from nodes.wire.messages import Message
from nodes.world import CoordinationError

PAPER = "CFS §4.3, Alg. 3"
LOOK_NS = 5 * MILLISECOND
BLOCKS_TOLD = 500
"""In one event."""
ASK_NS = 100 * MILLISECOND
PATIENCE_NS = 6 * SECOND
"""How long a group stands still before it tries to void the checkpoint."""


class GroupBarrier:
    """Holds intake for at most one checkpoint at a time."""

    def __init__(
        self,
        replica: GroupReplica[GroupLog],
        scope: Scope,
        epoch: int,
        writer: RecordWriter,
        answering: Answering,
    ):
        self._replica = replica
        self._scope = scope
        self._epoch = epoch
        self._writer = writer
        self._answering = answering
        self._name = ""
        """Of the checkpoint for which intake is held."""
        self._drained = False
        self._writes = False
        self._written: Barrier | None = None
        self._decided = asyncio.Event()

    # --- messages --------------------------------------------------------------------------------------------------

    def on_message(self, peer: str, message: Message) -> None:
        """From the time server; questions are answered when what they ask for is done."""
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
        """Returns when nothing is open in this group; None when it is not to take part."""
        if not await self._joins(question.name):
            return None
        while not self._quiet:
            await self._replica.world.clock.sleep(LOOK_NS)
            if self._name != question.name:
                return None
        if not self._drained:
            self._drained = True
            self._step("drained", f"{question.name}: nothing is open at sn {self._replica.log.last.sn}")
        return m.Drained(0, self._epoch, self._replica.log.last.sn)

    async def write(self, question: m.WriteBarrier) -> m.BarrierStands | None:
        """Returns when the barrier is committed; None when this group has not drained for it."""
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
        """The barrier is a group of the journal by itself."""
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
        self._scope.spawn(self._tell_blocks(question.name, blocks), "blocks at the barrier")
        stands = self._stands(self._written)
        if question.at_once:
            self._resume(f"{question.name}: does not wait for the others")
        return stands

    async def _tell_blocks(self, name: str, blocks: list[tuple[int, int, int]]) -> None:
        """The copy with which data nodes are compared when the cluster goes back."""
        group, trace = self._replica.group.name, self._replica.world.trace
        for start in range(0, len(blocks), BLOCKS_TOLD):
            end = start + BLOCKS_TOLD
            trace.emit(BlocksAtBarrier(group, name, blocks[start:end], end < len(blocks)))
            await self._replica.world.clock.sleep(0)

    async def _joins(self, name: str) -> bool:
        """Holds intake for a checkpoint that is pending; False when it is not, or another is in hand."""
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
            self._answering.hold()
            self._answering.draining = True
            self._step("drain", f"{name}: takes no requests")
            self._scope.spawn(self._await_outcome(name), "outcome")
        return self._name == name

    async def _await_outcome(self, name: str) -> None:
        """Nobody resumes before it is decided."""
        clock = self._replica.world.clock
        deadline_ns = clock.monotonic_ns() + PATIENCE_NS
        outcome = PENDING
        while outcome == PENDING:
            timer = clock.call_later(ASK_NS, self._decided.set)
            await self._decided.wait()
            timer.cancel()
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
            self._resume(f"{name} is {outcome or 'gone'}: takes requests again")

    def _resume(self, detail: str) -> None:
        self._name = ""
        self._step("resume", detail)
        self._answering.draining = False
        self._answering.release()
        self._answering.wake()

    @property
    def _quiet(self) -> bool:
        """Everything is committed, and no operation is open that another group shares."""
        crossing = self._replica.state.namespace.crossing
        is_open = crossing.begun or crossing.decided or crossing.promised or crossing.voted
        shares = is_open or self._answering.shares
        if self._replica.config.cluster.mutations.barrier_inside_operation:
            shares = False
        return self._writer.idle and not (self._writer.parked or shares)

    def _step(self, step: str, detail: str) -> None:
        self._replica.step("checkpoint", step, PAPER, detail, self._epoch)
