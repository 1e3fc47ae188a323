"""Writing a file: one block after the other through a pipeline, which is rebuilt when one of its nodes falls silent.

At most a window of packets is in memory. A block without any acknowledged packet is abandoned for another one on other nodes.
"""

from __future__ import annotations

from nodes.blocks.pipeline import BlockPipeline, PipelineBroken
from nodes.client.placement import PAUSE_NS, Placing, Questions
from nodes.client.smart_client import SmartClient
from nodes.errors import FsError
from nodes.metadata.operations import AddBlock, Block, Complete, Granted, Opened, Restamp
from nodes.units import home_group
from nodes.wire.data_messages import DAMAGED, FINAL, PACKET_BYTES, AskReplica, ReplicaIs
from nodes.world import World


class FileWriter:
    """Holds a file by its `Append` until `close`. One task uses it at a time."""

    def __init__(
        self,
        world: World,
        smart: SmartClient,
        questions: Questions,
        placing: Placing,
        opened: Opened,
        append: int,
        patience_ns: int,
    ):
        self._world = world
        self._smart = smart
        self._questions = questions
        self._placing = placing
        self._opened = opened
        self._append = append
        self._patience_ns = patience_ns
        self._buffer = bytearray()
        self._pipeline: BlockPipeline | None = None
        self._room = 0
        """Bytes that still fit into the present block."""
        self._unfinished = opened.unfinished.number if opened.unfinished is not None else 0
        """The last block of the file that the namespace reported as unfinished; 0 for none."""
        self._finished = Block(0, 0, 0)
        """The block that the next call to the namespace finishes."""
        self._shunned: dict[str, None] = {}
        """Data nodes that failed or refused while this file was written."""
        self._addresses: dict[str, str] = {}
        self.written = 0

    @property
    def pipeline(self) -> BlockPipeline | None:
        """The pipeline of the block that is being written."""
        return self._pipeline

    async def write(self, data: bytes) -> None:
        """Writes the bytes. Raises FsError; after that the file cannot be written any more."""
        view = memoryview(data)
        while view:
            take = min(len(view), PACKET_BYTES - len(self._buffer))
            self._buffer += view[:take]
            view = view[take:]
            if len(self._buffer) == PACKET_BYTES:
                await self._send_buffer()

    async def close(self) -> None:
        """Closes the file. On return all content is durable and the file is complete. Raises FsError."""
        await self._send_buffer()
        if self._pipeline is not None:
            await self._finish_block()
        last = self._finished
        inode, block = self._opened.inode, self._unfinished
        await self._smart.call(Complete(inode, self._append, block, last.length, last.stamp))

    async def _send_buffer(self) -> None:
        data = bytes(self._buffer)
        self._buffer.clear()
        while data:
            if self._pipeline is None:
                await self._begin_block()
            packet, data = data[: self._room], data[self._room :]
            self._room -= len(packet)
            self.written += len(packet)
            await self._push(packet)
            if not self._room:
                await self._finish_block()

    # --- blocks ----------------------------------------------------------------------------------------------------

    async def _begin_block(self) -> None:
        self._room = self._opened.block_size
        await self._anew([])

    async def _finish_block(self) -> None:
        while True:
            assert self._pipeline is not None
            try:
                await self._pipeline.finish()
                break
            except PipelineBroken:
                await self._rebuild(self._pipeline)
        done = self._pipeline
        self._finished = Block(done.block.number, done.block.stamp, done.acked)
        self._pipeline = None

    async def _push(self, packet: bytes) -> None:
        assert self._pipeline is not None
        try:
            await self._pipeline.push(packet)
        except PipelineBroken:
            await self._rebuild(self._pipeline)

    async def _anew(self, packets: list[bytes]) -> None:
        """Begins a block on nodes that the metadata servers choose, and sends the queued packets."""
        deadline = self._deadline()
        finished, self._finished = self._finished, Block(0, 0, 0)
        while True:
            inode, block = self._opened.inode, self._unfinished
            call = AddBlock(inode, self._append, block, finished.length, finished.stamp)
            answer = await self._smart.call(call)
            assert isinstance(answer.result, Granted)
            self._unfinished = answer.result.block.number
            finished = Block(0, 0, 0)
            nodes = await self._choose(deadline)
            if await self._open(answer.result.block, 0, nodes, answer.epoch, packets):
                return
            self._shun_refuser()
            await self._find_silent(nodes, answer.result.block.number)
            self._check_time(deadline)

    async def _choose(self, deadline: int) -> list[str]:
        """Data nodes for the file's number of replicas; fewer when there are no more. Raises FsError EIO."""
        while True:
            group = home_group(self._opened.inode)
            nodes, addresses = await self._placing.choose(
                group, self._opened.replication, list(self._shunned), self._opened.block_size
            )
            self._addresses |= addresses
            if nodes:
                return nodes
            self._shunned.clear()
            self._check_time(deadline)
            await self._world.clock.sleep(PAUSE_NS)

    async def _open(self, block: Block, at: int, nodes: list[str], epoch: int, packets: list[bytes]) -> bool:
        """Whether the chain has opened. From then on the packets belong to it."""
        addresses = {name: self._addresses[name] for name in nodes if name in self._addresses}
        pipeline = BlockPipeline(self._world, block, at, nodes, addresses, epoch, packets)
        self._pipeline = pipeline
        try:
            await pipeline.open()
        except PipelineBroken:
            return False
        return True

    # --- failures --------------------------------------------------------------------------------------------------

    async def _rebuild(self, broken: BlockPipeline) -> None:
        """Continues behind the acknowledged bytes, on the nodes of the chain that have them, under a new stamp.

        Raises FsError EIO at once when all nodes answer and none has the bytes any more, and after a while when some are silent.
        """
        deadline = self._deadline()
        acked, packets = broken.acked, list(broken.unacked)
        while True:
            usable, silent = await self._find_silent(broken.chain, broken.block.number, acked)
            refuser = self._shun_refuser()
            usable = [name for name in usable if name != refuser] or usable
            if not acked:
                await self._anew(packets)
                return
            if usable and await self._reopen(acked, usable, packets):
                return
            if not (usable or silent):
                number = f"{broken.block.number:016x}"
                raise FsError(
                    "EIO", f"no data node has the {acked} bytes of block {number} any more that were written"
                )
            self._check_time(deadline)
            await self._world.clock.sleep(PAUSE_NS)

    async def _reopen(self, acked: int, nodes: list[str], packets: list[bytes]) -> bool:
        block, epoch = await self._restamp()
        return await self._open(block, acked, nodes, epoch, packets)

    async def _restamp(self) -> tuple[Block, int]:
        """The unfinished block with its next stamp, and the epoch in which it was granted. Raises FsError."""
        answer = await self._smart.call(Restamp(self._opened.inode, self._append, self._unfinished))
        assert isinstance(answer.result, Granted)
        return answer.result.block, answer.epoch

    def _shun_refuser(self) -> str:
        """The data node that refused to extend the block; its disk may be full."""
        refuser = self._pipeline.refuser if self._pipeline is not None else ""
        if refuser:
            self._shunned[refuser] = None
        return refuser

    async def _find_silent(self, nodes: list[str], block: int, acked: int = 0) -> tuple[list[str], list[str]]:
        """Nodes that answer and have at least `acked` bytes of the block, and the silent nodes, which are shunned from now on."""
        usable: list[str] = []
        silent: list[str] = []
        for name in nodes:
            reported = await self._questions.ask(name, AskReplica(0, block))
            if not isinstance(reported, ReplicaIs):
                self._shunned[name] = None
                silent.append(name)
            elif reported.stamp and reported.length >= acked and reported.state != DAMAGED:
                usable.append(name)
        return usable, silent

    async def take_over(self, block: Block, force: bool) -> None:
        """Finishes the block that the previous writer left unfinished, at the length that all replicas with its last stamp have.

        A whole one has all that was ever written under this stamp: beside it, shorter ones do not count. Raises FsError EIO when no data node has
        any of it. `force` gives it up then, unless a node that counts as live has it and does not answer.
        """
        (places,) = await self._placing.locate([block.number])
        replies: dict[str, ReplicaIs] = {}
        for place in places:
            reported = await self._questions.ask(place.node, AskReplica(0, block.number))
            if isinstance(reported, ReplicaIs):
                replies[place.node] = reported
        # The metadata servers may not have the latest reports yet.
        stamps = [*(place.stamp for place in places), *(reply.stamp for reply in replies.values())]
        newest = max(stamps, default=0)
        lengths = {
            node: reply.length
            for node, reply in replies.items()
            if reply.stamp == newest and reply.state != DAMAGED
        }
        whole = [lengths[node] for node in lengths if replies[node].state == FINAL]
        length = min(whole or lengths.values(), default=0)
        silent = sorted(
            place.node
            for place in places
            if place.node not in replies and place.stamp == newest and place.state != DAMAGED
        )
        if not lengths and (silent or not force):
            line = f"no data node answers that has the unfinished block {block.number:016x}"
            raise FsError("EIO", f"{line}: {', '.join(silent)} had it" if silent else line)
        if length:
            await self._finish_left(
                block, length, newest, [node for node in lengths if lengths[node] >= length]
            )

    async def _finish_left(self, block: Block, length: int, newest: int, nodes: list[str]) -> None:
        """`newest`: the stamp of the replicas. After a recovery to a checkpoint, the namespace may have an earlier one."""
        deadline, epoch = self._deadline(), 0
        while block.stamp <= newest:
            self._check_time(deadline)
            block, epoch = await self._restamp()
        opened = await self._open(block, length, nodes, epoch, []) or await self._reopen(length, nodes, [])
        if not opened:
            raise FsError("EIO", f"the data nodes do not take the unfinished block {block.number:016x}")
        await self._finish_block()

    def _deadline(self) -> int:
        return self._world.clock.monotonic_ns() + self._patience_ns

    def _check_time(self, deadline: int) -> None:
        """Raises FsError EIO."""
        if self._world.clock.monotonic_ns() >= deadline:
            raise FsError("EIO", "no data node takes the file's blocks")
