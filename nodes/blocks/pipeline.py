"""A block's pipeline through a chain of data nodes: packets in order, acknowledgements back through the chain (CFS §5.5.1, as in HDFS).

Every writer of a block uses it, clients as well as data nodes that copy one.
"""

from __future__ import annotations

import asyncio
from collections import deque

from nodes.config import SECOND
from nodes.metadata.operations import Block
from nodes.storage.chunks import sums_of
from nodes.wire.data_messages import Packet, PacketAcked, WriteBlock, WriteOpened
from nodes.world import World

WINDOW = 16
"""Packets in flight at once: a megabyte with 64 KiB each."""
PATIENCE_NS = 1 * SECOND
"""Time without progress after which a pipeline counts as broken."""


class PipelineBroken(Exception):
    """The chain does not take the block as it is; one line gives the reason."""


class BlockPipeline:
    """A pipeline, made with the bytes to be sent first. `acked` bytes are on every node of the chain."""

    def __init__(
        self,
        world: World,
        block: Block,
        at: int,
        chain: list[str],
        addresses: dict[str, str],
        epoch: int,
        packets: list[bytes],
        is_copy: bool = False,
    ):
        self._world = world
        self._first, self._rest = chain[0], chain[1:]
        self._addresses = addresses
        self._epoch = epoch
        self._is_copy = is_copy
        self.block = block
        self.chain = chain
        self.acked = at
        self.unacked: deque[bytes] = deque(packets)
        self._at = at
        self._sent = at
        self._opened = False
        self._final = False
        self._refused = ""
        self.refuser = ""
        """The data node of the chain that refused; empty when none did."""
        self._waiter: asyncio.Future[None] | None = None

    # --- steps -----------------------------------------------------------------------------------------------------

    def on_message(self, peer: str, message: WriteOpened | PacketAcked) -> None:
        """Handles an answer from the first node of the chain."""
        if peer != self._first or (message.block, message.stamp) != (self.block.number, self.block.stamp):
            return
        if message.refused:
            self._refused, self.refuser = f"{message.node}: {message.refused}", message.node
        elif isinstance(message, WriteOpened):
            self._opened = True
        else:
            self._count(message)
        self._wake()

    def _count(self, message: PacketAcked) -> None:
        while self.unacked and self.acked + len(self.unacked[0]) <= message.length:
            self.acked += len(self.unacked.popleft())
        self._final = self._final or message.final

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # --- procedures ------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Opens the chain and sends the queued bytes. Raises PipelineBroken."""
        world, block = self._world, self.block
        for name, address in self._addresses.items():
            world.network.know(name, address)
        opening = WriteBlock(
            block.number, block.stamp, self._at, self._rest, self._addresses, self._epoch, self._is_copy
        )
        world.network.send(self._first, opening)
        while not self._opened:
            await self._progress()
        for data in self.unacked:
            self._send(data, False)

    async def push(self, data: bytes) -> None:
        """Sends a packet as soon as there is room. The packet belongs to the pipeline from the call on. Raises PipelineBroken."""
        self.unacked.append(data)
        while len(self.unacked) > WINDOW:
            await self._progress()
        self._send(data, False)

    async def finish(self) -> None:
        """Returns when the whole chain has the whole block durably. Raises PipelineBroken."""
        self._send(b"", True)
        while not self._final:
            await self._progress()

    def _send(self, data: bytes, last: bool) -> None:
        block = self.block
        packet = Packet(block.number, block.stamp, self._sent, data, sums_of(data), last)
        self._world.network.send(self._first, packet)
        self._sent += len(data)

    async def _progress(self) -> None:
        """Waits for any message of the chain. Raises PipelineBroken."""
        if not self._refused:
            waiter = self._waiter = asyncio.get_running_loop().create_future()
            timer = self._world.clock.call_later(PATIENCE_NS * len(self.chain), self._silent)
            try:
                await waiter
            finally:
                timer.cancel()
        if self._refused:
            raise PipelineBroken(self._refused)

    def _silent(self) -> None:
        self._refused = "no acknowledgement in time"
        self._wake()
