"""Copying of a data node's replica to another node, on command of the active, through a pipeline of one."""

from __future__ import annotations

from collections.abc import Iterator

from nodes.blocks.pipeline import BlockPipeline, PipelineBroken
from nodes.metadata.operations import Block
from nodes.storage.block_file import BlockDamaged
from nodes.storage.block_store import READ_BYTES, BlockRefused, BlockStore
from nodes.trace.events import Warned
from nodes.wire.data_messages import PacketAcked, Replicate, WriteOpened
from nodes.world import World

COPYING_MAX = 8
"""Copies that one data node sends at once."""
WAITING_MAX = 256
"""Copies that wait for their turn; the active commands any further ones again."""


class Copying:
    """The copies under way from this node, by block."""

    def __init__(self, world: World, store: BlockStore):
        self._world = world
        self._store = store
        self._pipelines: dict[int, BlockPipeline] = {}
        self._waiting: dict[int, Replicate] = {}

    def take(self, command: Replicate) -> None:
        """Copies a replica when its turn comes."""
        if len(self._waiting) < WAITING_MAX:
            self._waiting[command.block] = command
        self._next()

    def _next(self) -> None:
        for block, command in list(self._waiting.items()):
            if len(self._pipelines) >= COPYING_MAX:
                return
            if block not in self._pipelines:
                del self._waiting[block]
                self._begin(command)

    def _begin(self, command: Replicate) -> None:
        """Copies a whole replica with exactly this stamp, or does nothing."""
        replica = self._store.replicas.get(command.block)
        if replica is None or not replica.final or replica.damaged or replica.stamp != command.stamp:
            return
        pipeline = self._pipelines[command.block] = BlockPipeline(
            self._world,
            Block(command.block, replica.stamp, replica.length),
            0,
            [command.target],
            {command.target: command.address},
            command.epoch,
            [],
            is_copy=True,
        )
        self._world.scope.spawn(self._copy(pipeline), "copy")

    def on_answer(self, peer: str, message: WriteOpened | PacketAcked) -> None:
        pipeline = self._pipelines.get(message.block)
        if pipeline is not None:
            pipeline.on_message(peer, message)

    async def _copy(self, pipeline: BlockPipeline) -> None:
        try:
            await pipeline.open()
            for data in self._encoded(pipeline.block):
                await pipeline.push(data)
            await pipeline.finish()
        except (PipelineBroken, BlockRefused, BlockDamaged, OSError) as error:
            self._world.trace.emit(
                Warned(f"block {pipeline.block.number:016x} is not copied to {pipeline.chain[0]}: {error}")
            )
        finally:
            del self._pipelines[pipeline.block.number]
            if self._world.scope.open:
                self._next()

    def _encoded(self, block: Block) -> Iterator[bytes]:
        """Raises BlockRefused, BlockDamaged, OSError."""
        offset = 0
        while offset < block.length:
            data, _ = self._store.read(block.number, offset, READ_BYTES)
            yield data
            offset += len(data)
