"""The reading connections of the event store: a long question does not hold up the next one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import aiosqlite

from backend.errors import NotThere

READERS = 3
"""Number of connections, each with a thread of its own."""


class ReadConnections:
    """A query goes to the connection with the fewest that are unanswered."""

    def __init__(self, connections: list[aiosqlite.Connection]):
        self._connections = connections
        self._unanswered = [0] * len(connections)
        self._retired = False
        self._idle = asyncio.Event()
        self._idle.set()

    @classmethod
    async def open(cls, path: Path) -> ReadConnections:
        return cls([await aiosqlite.connect(path, isolation_level=None) for _ in range(READERS)])

    @contextlib.asynccontextmanager
    async def execute(self, query: str, values: Iterable[Any] = ()) -> AsyncIterator[aiosqlite.Cursor]:
        """The rows of a query, to be read while this connection is lent. Raises NotThere once the run of these connections was removed."""
        if self._retired:
            raise NotThere("the run was removed meanwhile")
        self._idle.clear()
        place = self._unanswered.index(min(self._unanswered))
        self._unanswered[place] += 1
        try:
            async with self._connections[place].execute(query, values) as rows:
                yield rows
        finally:
            self._unanswered[place] -= 1
            if not any(self._unanswered):
                self._idle.set()

    async def first(self, query: str, values: Iterable[Any] = ()) -> Any:
        """The first row of a query; None when there is none."""
        async with self.execute(query, values) as rows:
            return await rows.fetchone()

    async def retire(self) -> None:
        """Takes no more queries, and closes when those that were asked are answered."""
        self._retired = True
        await self._idle.wait()
        await self.close()

    async def interrupt(self) -> None:
        """Ends what runs by an error, so that closing need not wait for it."""
        for connection in self._connections:
            await connection.interrupt()

    async def close(self) -> None:
        for connection in self._connections:
            await connection.close()
