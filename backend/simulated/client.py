"""The file system of a simulated cluster: calls of a client that lives in the simulation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

import msgspec

from backend.errors import TooLarge
from backend.simulated.inputs import CallOperation, FindBlocks, GetContent, Input, PutContent
from nodes.metadata.operations import BLOCK_SIZE, Contents, Operation
from nodes.wire.data_messages import Location
from nodes.wire.messages import Answer

CONTENT_MOST = 16 << 20
"""Largest content of one request, in bytes: it is kept in memory and in the input log."""
PART_BYTES = 1 << 20


class CallingFabric(Protocol):
    """The part of a simulated fabric that its client needs."""

    active: str
    """The server that the client believes to be the active."""

    async def call(self, input: Input) -> bytes:
        """The encoded result of a call. Raises FsError, Impossible while the clock is paused, Unavailable."""


class SimulatedClient:
    """Stands for the smart client and for that of files."""

    def __init__(self, fabric: CallingFabric):
        self._fabric = fabric

    def smart(self) -> SimulatedClient:
        return self

    def files(self) -> SimulatedClient:
        return self

    @property
    def believed_active(self) -> str:
        return self._fabric.active

    async def call(self, operation: Operation) -> Answer:
        """Raises FsError."""
        return msgspec.msgpack.decode(await self._fabric.call(CallOperation(operation)), type=Answer)

    async def places(self, path: str, first: int, limit: int) -> tuple[Contents, list[list[Location]]]:
        """Raises FsError."""
        body = await self._fabric.call(FindBlocks(path, first, limit))
        return msgspec.msgpack.decode(body, type=tuple[Contents, list[list[Location]]])

    async def put(self, path: str, source: AsyncIterator[bytes], block_size: int = BLOCK_SIZE) -> int:
        """Raises FsError, TooLarge."""
        return await self._write(PutContent(path, await whole(source), block_size))

    async def append(self, path: str, source: AsyncIterator[bytes], force: bool = False) -> int:
        """Raises FsError, TooLarge."""
        return await self._write(PutContent(path, await whole(source), BLOCK_SIZE, append=True, force=force))

    async def _write(self, input: PutContent) -> int:
        return msgspec.msgpack.decode(await self._fabric.call(input), type=int)

    async def get(self, path: str, start: int = 0) -> AsyncIterator[bytes]:
        """A file's bytes from `start` on, a part at a time. Raises FsError."""
        while True:
            body = await self._fabric.call(GetContent(path, start, PART_BYTES))
            part = msgspec.msgpack.decode(body, type=bytes)
            if part:
                yield part
            if len(part) < PART_BYTES:
                return
            start += len(part)


async def whole(source: AsyncIterator[bytes]) -> bytes:
    """Raises TooLarge."""
    found = bytearray()
    async for part in source:
        found += part
        if len(found) > CONTENT_MOST:
            raise TooLarge(f"a simulated cluster takes {CONTENT_MOST >> 20} MiB of content at once, not more")
    return bytes(found)
