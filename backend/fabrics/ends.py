"""Ends of server processes, recorded by the fabric that owns them: a successor then waits for no lease (safety rule 26)."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable

from backend.errors import LabError
from backend.fabrics.children import Child
from backend.fabrics.tree_watch import TreeClient
from nodes.replicas.ends import end_changes

PATIENCE_S = 2.0
"""Time for which the next start of a server waits for the record of its last end."""


class EndRecorder:
    """Watches the servers' processes of one cluster. Where a process cannot be watched, the members notice its silence."""

    def __init__(
        self,
        watches: bool,
        client: Callable[[], TreeClient],
        servers: Callable[[], dict[str, str]],
        session_of: Callable[[str], int],
        close_session: Callable[[str, int], Awaitable[None]],
        recorded: Callable[[str], None],
    ):
        """`watches`: whether the cluster's members detect failures; `servers`: the group of each metadata server."""
        self._watches = watches
        self._client = client
        self._servers = servers
        self._session_of = session_of
        self._close_session = close_session
        self._recorded = recorded
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._lives: dict[str, int] = {}
        """Number of the present life of each server; a record of an earlier one is void."""

    async def connect(self) -> None:
        """Connects before the first end. Raises Unavailable."""
        if self._watches:
            await self._client().connect()

    async def before_start(self, name: str) -> None:
        """Waits for the record of the last life, for a bounded time, and makes it void if it is not read by then."""
        task = self._tasks.get(name)
        if task is not None:
            await asyncio.wait([task], timeout=PATIENCE_S)
        self._lives[name] = self._lives.get(name, 0) + 1

    def watch(self, child: Child) -> None:
        """Watches the process that has just started or was adopted, if it is a metadata server's."""
        if not self._watches or child.name not in self._servers():
            return
        try:
            ended = os.pidfd_open(child.pid)
        except (OSError, AttributeError):
            return
        loop, life = asyncio.get_running_loop(), self._lives.get(child.name, 0)

        def on_end() -> None:
            loop.remove_reader(ended)
            os.close(ended)
            self._tasks[child.name] = loop.create_task(self._record(child, life))

        loop.add_reader(ended, on_end)

    async def _record(self, child: Child, life: int) -> None:
        if not self._watches:
            return
        name = child.name
        group, session = self._servers()[name], self._session_of(name)
        if child.running:
            return
        with contextlib.suppress(LabError):
            read = await self._client().read_end(group, name)
            if self._lives.get(name, 0) != life:
                return
            changes = end_changes(group, name, read)
            if changes and await self._client().write(changes):
                self._recorded(name)
            if session:
                await self._close_session(name, session)

    def close(self) -> None:
        """The servers that end from here on are stopped in order."""
        self._watches = False
        for task in self._tasks.values():
            task.cancel()
