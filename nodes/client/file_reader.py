"""Reading a file. Each part is read from any data node that has it and checked; another node replaces one that is silent or wrong."""

from __future__ import annotations

from collections.abc import AsyncIterator

from nodes.client.placement import PAUSE_NS, Placing, Questions
from nodes.client.smart_client import SmartClient
from nodes.errors import FsError
from nodes.metadata.operations import CHUNK_BYTES, Block, Contents, Open
from nodes.metadata.paths import shown
from nodes.storage.chunks import first_bad
from nodes.wire.data_messages import FINAL, LOCATED_MAX, PACKET_BYTES, BlockRead, Location, ReadBlock
from nodes.world import World


class FileReader:
    """Gives a file's finished blocks in order."""

    def __init__(
        self, world: World, smart: SmartClient, questions: Questions, placing: Placing, patience_ns: int
    ):
        self._world = world
        self._smart = smart
        self._questions = questions
        self._placing = placing
        self._patience_ns = patience_ns

    async def read(self, path: str, start: int = 0) -> AsyncIterator[bytes]:
        """Parts of at most 64 KiB, from byte `start` on. Raises FsError; EIO when no data node returns the expected content."""
        first, more, inode = 0, True, 0
        while more:
            answer = await self._smart.call(Open(path, first, LOCATED_MAX))
            contents = answer.result
            assert isinstance(contents, Contents)
            if inode not in (0, contents.inode):
                raise FsError("ESTALE", f"{shown(path)} is another file now")
            inode = contents.inode
            places = await self._placing.locate([block.number for block in contents.blocks])
            for index, (block, locations) in enumerate(zip(contents.blocks, places, strict=True), first):
                async for data in self._block(path, inode, index, block, locations, start):
                    yield data
                start = max(0, start - block.length)
            first, more = first + len(contents.blocks), contents.more

    async def _block(
        self, path: str, inode: int, index: int, block: Block, locations: list[Location], offset: int
    ) -> AsyncIterator[bytes]:
        """Reads a block from `offset` on, which may lie behind its end.

        A block that no node returns may have been freed, or recovered under a later stamp, so the file is looked up again.
        """
        if offset >= block.length:
            return
        deadline = self._deadline()
        nodes = self._fit(block, locations)
        skipped = offset % CHUNK_BYTES
        offset -= skipped
        while offset < block.length:
            data = await self._part(block, offset, nodes)
            if data:
                yield data[skipped:]
                offset, skipped, deadline = offset + len(data), 0, self._deadline()
                continue
            if self._world.clock.monotonic_ns() >= deadline:
                raise FsError("EIO", f"no data node gives block {block.number:016x}")
            await self._world.clock.sleep(PAUSE_NS)
            block = await self._present(path, inode, index, block)
            nodes = await self._holders(block)

    async def block(self, block: Block) -> AsyncIterator[bytes]:
        """The parts of a finished block, also of one that no file has any more but a checkpoint keeps. Raises FsError EIO."""
        offset, deadline = 0, self._deadline()
        nodes = await self._holders(block)
        while offset < block.length:
            data = await self._part(block, offset, nodes)
            if data:
                yield data
                offset, deadline = offset + len(data), self._deadline()
                continue
            if self._world.clock.monotonic_ns() >= deadline:
                raise FsError("EIO", f"no data node gives block {block.number:016x}")
            await self._world.clock.sleep(PAUSE_NS)
            nodes = await self._holders(block)

    def _deadline(self) -> int:
        return self._world.clock.monotonic_ns() + self._patience_ns

    async def _holders(self, block: Block) -> list[str]:
        (locations,) = await self._placing.locate([block.number])
        return self._fit(block, locations)

    async def _present(self, path: str, inode: int, index: int, block: Block) -> Block:
        """The block as the file has it now. Raises FsError; ESTALE when another block has replaced it."""
        contents = (await self._smart.call(Open(path, index, 1))).result
        assert isinstance(contents, Contents)
        if contents.inode != inode or [each.number for each in contents.blocks] != [block.number]:
            raise FsError("ESTALE", f"{shown(path)} was changed while it was read")
        return contents.blocks[0]

    def _fit(self, block: Block, locations: list[Location]) -> list[str]:
        """Data nodes that have this very block, in a drawn order, the silent ones last."""
        right = (block.stamp, block.length, FINAL)
        nodes = [each.node for each in locations if (each.stamp, each.length, each.state) == right]
        self._world.rng.shuffle(nodes)
        return sorted(nodes, key=self._questions.silent)

    async def _part(self, block: Block, offset: int, nodes: list[str]) -> bytes:
        """The next bytes from the first node that returns them intact. Nodes before it are dropped from the list."""
        length = min(PACKET_BYTES, block.length - offset)
        while nodes:
            reported = await self._questions.ask(
                nodes[0], ReadBlock(0, block.number, block.stamp, offset, length)
            )
            if (
                isinstance(reported, BlockRead)
                and not reported.refused
                and (reported.offset, len(reported.data)) == (offset, length)
                and first_bad(reported.data, reported.sums) < 0
            ):
                return reported.data
            del nodes[0]
        return b""
