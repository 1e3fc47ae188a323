"""What one procedure sleeps on until there is work: `asyncio.Event` looks for the running loop, a system call, at each wait."""

from __future__ import annotations

import asyncio


class Wake:
    """Made inside the running loop; one waiter at a time."""

    __slots__ = ("_loop", "_set", "_waiter")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._set = False
        self._waiter: asyncio.Future[None] | None = None

    def set(self) -> None:
        self._set = True
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    async def wait(self) -> None:
        """Returns at once when it was set since the last wait; clears it."""
        if not self._set:
            self._waiter = self._loop.create_future()
            await self._waiter
            self._waiter = None
        self._set = False
