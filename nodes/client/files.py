"""File content over the smart client: put, append, get. Failovers and failing data nodes do not interrupt these."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from nodes.blocks.pipeline import BlockPipeline
from nodes.client.file_reader import FileReader
from nodes.client.file_writer import FileWriter
from nodes.client.placement import Placing, Questions
from nodes.client.smart_client import SmartClient
from nodes.config import MILLISECOND, ClusterConfig
from nodes.errors import FsError
from nodes.metadata.files import check_block_size
from nodes.metadata.operations import BLOCK_SIZE, Append, Block, Contents, Create, Made, Open, Opened
from nodes.metadata.paths import shown
from nodes.wire.data_messages import (
    LOCATED_MAX,
    BlockRead,
    Chosen,
    Located,
    Location,
    PacketAcked,
    ReplicaIs,
    WriteOpened,
)
from nodes.wire.messages import Message
from nodes.world import World


class FileClient:
    """Shares the world of one smart client. Many files may be read and written at once."""

    def __init__(self, world: World, cluster: ClusterConfig, smart: SmartClient):
        self._world = world
        self._smart = smart
        self._questions = Questions(world)
        self._placing = Placing(world, self._questions, smart.servers_of)
        self._patience_ns = cluster.timing.call_deadline_ms * MILLISECOND
        self._writers: dict[int, FileWriter] = {}
        """Writers by the number of the `Append` that holds the file."""
        self._reader = FileReader(world, smart, self._questions, self._placing, self._patience_ns)
        world.network.receive(self.on_message)

    def on_message(self, peer: str, message: Message) -> None:
        if isinstance(message, Located | Chosen | ReplicaIs | BlockRead):
            self._questions.on_reply(peer, message)
        elif isinstance(message, WriteOpened | PacketAcked):
            for pipeline in self._pipelines():
                pipeline.on_message(peer, message)
        else:
            self._smart.on_message(peer, message)

    async def places(self, path: str, first: int, limit: int) -> tuple[Contents, list[list[Location]]]:
        """A page of a file's finished blocks, with the replicas that servers reported for each. Raises FsError."""
        contents = (await self._smart.call(Open(path, first, min(limit, LOCATED_MAX)))).result
        assert isinstance(contents, Contents)
        return contents, await self._placing.locate([block.number for block in contents.blocks])

    def _pipelines(self) -> list[BlockPipeline]:
        return [writer.pipeline for writer in self._writers.values() if writer.pipeline is not None]

    async def put(
        self,
        path: str,
        source: AsyncIterator[bytes],
        block_size: int = BLOCK_SIZE,
        on_opened: Callable[[int, int], None] | None = None,
    ) -> int:
        """Creates a file from the source's content; returns its length. Raises FsError; EEXIST when the name is taken."""
        check_block_size(block_size)
        made = (await self._smart.call(Create(path))).result
        assert isinstance(made, Made)
        return await self._append(path, source, False, block_size, on_opened, made.inode)

    async def append(
        self,
        path: str,
        source: AsyncIterator[bytes],
        force: bool = False,
        block_size: int = BLOCK_SIZE,
        on_opened: Callable[[int, int], None] | None = None,
    ) -> int:
        """Appends the source's content to a file, in blocks of its own; returns the number of bytes.

        `on_opened` is given the file's inode number and the number of this call before the first part is written.

        Content that was written before the source or the cluster failed stays in the file. Raises FsError; EBUSY while another writer holds
        the file, unless `force` takes it over.
        """
        return await self._append(path, source, force, block_size, on_opened)

    async def _append(
        self,
        path: str,
        source: AsyncIterator[bytes],
        force: bool,
        block_size: int,
        on_opened: Callable[[int, int], None] | None,
        made: int = 0,
    ) -> int:
        """`made`: the inode that the path must still name; 0 for any."""
        answer = await self._smart.call(Append(path, block_size, force))
        opened = answer.result
        assert isinstance(opened, Opened)
        is_other = made not in (0, opened.inode)
        if on_opened is not None and not is_other:
            on_opened(opened.inode, answer.number)
        writer = FileWriter(
            self._world, self._smart, self._questions, self._placing, opened, answer.number, self._patience_ns
        )
        self._writers[answer.number] = writer
        try:
            if opened.unfinished is not None:
                await writer.take_over(opened.unfinished, force)
            if is_other:
                await writer.close()
                raise FsError("ESTALE", f"{shown(path)} is another file now")
            await self._pour(source, writer)
        finally:
            del self._writers[answer.number]
        return writer.written

    async def _pour(self, source: AsyncIterator[bytes], writer: FileWriter) -> None:
        """Copies the source into the file. A failing source ends the file; a failing cluster leaves it open, to be taken over by `force`."""
        try:
            async for data in source:
                await writer.write(data)
        except FsError:
            raise
        except Exception:
            await writer.close()
            raise
        await writer.close()

    def get(self, path: str, start: int = 0) -> AsyncIterator[bytes]:
        """A file's bytes from `start` on in order, a part at a time. Raises FsError."""
        return self._reader.read(path, start)

    def block(self, block: Block) -> AsyncIterator[bytes]:
        """The bytes of a finished block, a part at a time. Raises FsError EIO when no data node gives it."""
        return self._reader.block(block)
