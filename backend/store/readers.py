"""The reading connections of the event store: a long question does not hold up the next one."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import aiosqlite

READERS = 3
"""Number of connections, each with a thread of its own."""


class ReadConnections:
    """A query goes to the connection with the fewest that are unanswered."""

    def __init__(self, connections: list[aiosqlite.Connection]):
        self._connections = connections
        self._unanswered = [0] * len(connections)

    @classmethod
    async def open(cls, path: Path) -> ReadConnections:
        return cls([await aiosqlite.connect(path, isolation_level=None) for _ in range(READERS)])

    @contextlib.asynccontextmanager
    async def execute(self, query: str, values: Iterable[Any] = ()) -> AsyncIterator[aiosqlite.Cursor]:
        """The rows of a query, to be read while this connection is lent."""
        place = self._unanswered.index(min(self._unanswered))
        self._unanswered[place] += 1
        try:
            async with self._connections[place].execute(query, values) as rows:
                yield rows
        finally:
            self._unanswered[place] -= 1

    async def first(self, query: str, values: Iterable[Any] = ()) -> Any:
        """The first row of a query; None when there is none."""
        async with self.execute(query, values) as rows:
            return await rows.fetchone()

    async def interrupt(self) -> None:
        """Ends what runs by an error, so that closing need not wait for it."""
        for connection in self._connections:
            await connection.interrupt()

    async def close(self) -> None:
        for connection in self._connections:
            await connection.close()
