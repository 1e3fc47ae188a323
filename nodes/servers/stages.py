"""A data node's part in pipelines: it writes the packets, forwards them, and acknowledges the bytes that it and all nodes behind it have."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import msgspec

from nodes.config import SECOND
from nodes.scope import Scope
from nodes.storage.block_store import BlockRefused, BlockStore, StoredReplica
from nodes.trace.block_events import ReplicaRemoved, ReplicaStored, WriteRefused
from nodes.wire.data_messages import CHAIN_MAX, Packet, PacketAcked, WriteBlock, WriteOpened
from nodes.world import World

WAITING_MAX = 64
"""Packets of one block that may wait for the disk."""
IDLE_NS = 60 * SECOND
"""Time without progress after which a pipeline is given up; its writer rebuilds it when it continues."""


class StagedBlock:
    """One block that is being written here."""

    def __init__(self, upstream: str, message: WriteBlock, before: StoredReplica | None, now_ns: int):
        self.upstream = upstream
        self.block = message.block
        self.stamp = message.stamp
        self.at = message.at
        self.is_copy = message.is_copy
        self.before = before
        """The replica that was here; None when there was none, and once its end is reported."""
        self.downstream = message.chain[0] if message.chain else ""
        self.ready = False
        self.ready_below = not self.downstream
        self.written = message.at
        self.written_below = message.at
        self.final = False
        self.final_below = not self.downstream
        self.touched_ns = now_ns
        self.packets: asyncio.Queue[Packet] = asyncio.Queue(WAITING_MAX)

    @property
    def acked(self) -> int:
        return min(self.written, self.written_below) if self.downstream else self.written


@dataclass(eq=False)
class Stages:
    """All pipelines through this data node. `changed(block)` is called whenever a replica changes."""

    _world: World
    _scope: Scope
    _store: BlockStore
    _changed: Callable[[int], None]
    _data_nodes: Collection[str]
    _stages: dict[int, StagedBlock] = field(default_factory=dict, init=False)
    _scopes: dict[int, Scope] = field(default_factory=dict, init=False)

    def writing(self, block: int) -> bool:
        """Whether a replica of this block is being written here now."""
        return block in self._stages

    def blocks(self) -> list[int]:
        """The blocks that are being written here now, copies included."""
        return list(self._stages)

    # --- steps -----------------------------------------------------------------------------------------------------

    def on_write(self, peer: str, message: WriteBlock) -> None:
        """Opens a replica here and the rest of the chain; a repeated opening changes nothing."""
        old = self._stages.get(message.block)
        if not self._is_chain(message.chain) or message.at < 0:
            self._answer_opened(peer, message, "a chain names each data node once, and few of them")
            return
        if old is not None and old.stamp >= message.stamp:
            if (old.stamp, old.upstream) != (message.stamp, peer):
                self._answer_opened(peer, message, f"stamp {old.stamp} of the block is being written")
            return
        self.end(message.block)
        before, now = self._store.replicas.get(message.block), self._world.clock.monotonic_ns()
        stage = self._stages[message.block] = StagedBlock(peer, message, before, now)
        if stage.downstream:
            self._world.network.know(stage.downstream, message.addresses.get(stage.downstream, ""))
            onwards = msgspec.structs.replace(message, chain=message.chain[1:])
            self._world.network.send(stage.downstream, onwards)
        scope = self._scopes[message.block] = self._scope.child("pipeline")
        scope.spawn(self._take(stage), "pipeline")

    def _is_chain(self, chain: list[str]) -> bool:
        """Whether these nodes can follow this data node in a chain."""
        others = set(chain) & set(self._data_nodes) - {self._world.name}
        return len(chain) == len(others) < CHAIN_MAX

    def on_packet(self, peer: str, message: Packet) -> None:
        stage = self._stage_of(message)
        if stage is None or peer != stage.upstream:
            answer = PacketAcked(
                message.block,
                message.stamp,
                0,
                False,
                self._world.name,
                "the block is not being written here",
            )
            self._world.network.send(peer, answer)
            return
        stage.touched_ns = self._world.clock.monotonic_ns()
        if stage.packets.full():
            self._fail(stage, "the disk does not keep up")
            return
        if stage.downstream:
            self._world.network.send(stage.downstream, message)
        stage.packets.put_nowait(message)

    def on_answer(self, peer: str, message: WriteOpened | PacketAcked) -> None:
        """Handles an answer from the rest of the chain."""
        stage = self._stage_of(message)
        if stage is None or peer != stage.downstream:
            return
        if message.refused:
            self._refuse(stage, message.node, message.refused)
        elif isinstance(message, WriteOpened):
            stage.ready_below = True
            self._report_ready(stage)
        else:
            stage.written_below = max(stage.written_below, message.length)
            stage.final_below = stage.final_below or message.final
            self._report_acked(stage)

    def _stage_of(self, message: WriteOpened | Packet | PacketAcked) -> StagedBlock | None:
        stage = self._stages.get(message.block)
        return stage if stage is not None and stage.stamp == message.stamp else None

    # --- answers ---------------------------------------------------------------------------------------------------

    def _answer_opened(self, peer: str, message: WriteBlock, refused: str) -> None:
        answer = WriteOpened(message.block, message.stamp, self._world.name, refused)
        self._world.network.send(peer, answer)

    def _report_ready(self, stage: StagedBlock) -> None:
        if stage.ready and stage.ready_below:
            answer = WriteOpened(stage.block, stage.stamp, self._world.name, "")
            self._world.network.send(stage.upstream, answer)

    def _report_acked(self, stage: StagedBlock) -> None:
        final = stage.final and stage.final_below
        answer = PacketAcked(stage.block, stage.stamp, stage.acked, final, self._world.name, "")
        self._world.network.send(stage.upstream, answer)
        if final:
            self.end(stage.block)

    def _fail(self, stage: StagedBlock, reason: str) -> None:
        self._world.trace.emit(WriteRefused(stage.block, stage.stamp, " ".join(reason.split())))
        self._refuse(stage, self._world.name, reason)

    def _refuse(self, stage: StagedBlock, node: str, reason: str) -> None:
        """Sends the refusal upstream. The writer rebuilds the pipeline without the failed node."""
        answer = PacketAcked(stage.block, stage.stamp, stage.acked, False, node, " ".join(reason.split()))
        self._world.network.send(stage.upstream, answer)
        self.end(stage.block)

    def end(self, block: int) -> None:
        """Ends writing here; the written bytes stay, except those of a copy."""
        if self._stages.pop(block, None) is not None:
            self._store.leave(block)
            scope = self._scopes.pop(block, None)
            if scope is not None:
                scope.close()

    def end_idle(self) -> None:
        """Gives up the pipelines of writers that are gone."""
        oldest_ns = self._world.clock.monotonic_ns() - IDLE_NS
        for stage in [each for each in self._stages.values() if each.touched_ns < oldest_ns]:
            self.end(stage.block)

    # --- the disk --------------------------------------------------------------------------------------------------

    async def _take(self, stage: StagedBlock) -> None:
        """Opens the replica and writes the packets to it, in order."""
        try:
            await self._store.begin(stage.block, stage.stamp, stage.at, stage.is_copy)
            self._report_replaced(stage)
            self._changed(stage.block)
            stage.ready = True
            self._report_ready(stage)
            while not stage.final:
                await self._write(stage, await stage.packets.get())
        except (BlockRefused, OSError) as error:
            self._report_replaced(stage)
            self._changed(stage.block)
            self._fail(stage, str(error))

    def _report_replaced(self, stage: StagedBlock) -> None:
        """Reports the end of the whole replica that was here: a writer's takes its place when it begins, a copy when it is whole."""
        before = stage.before
        if before is None or self._store.replicas.get(stage.block) is before:
            return
        stage.before = None
        if before.final:
            self._world.trace.emit(ReplicaRemoved(stage.block, before.stamp, "replaced"))

    async def _write(self, stage: StagedBlock, packet: Packet) -> None:
        if packet.offset + len(packet.data) <= stage.written and packet.data:
            return
        if packet.data:
            self._store.append(stage.block, packet.offset, packet.data, packet.sums)
            stage.written += len(packet.data)
        elif packet.offset != stage.written:
            raise BlockRefused(f"the end is at {packet.offset}, {stage.written} bytes are here")
        if packet.last:
            replica = await self._store.finish(stage.block)
            stage.final = True
            self._report_replaced(stage)
            self._changed(stage.block)
            self._world.trace.emit(ReplicaStored(stage.block, replica.stamp, replica.length))
        self._report_acked(stage)
