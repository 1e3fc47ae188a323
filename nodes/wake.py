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


class Rounds(Wake):
    """A Wake whose procedure works in rounds: it begins one when it has woken, and ends it."""

    __slots__ = ("_waits",)

    def __init__(self) -> None:
        super().__init__()
        self._waits: list[asyncio.Future[None]] = []

    async def over(self) -> None:
        """Wakes the procedure; returns at the end of a round that has not begun yet."""
        ended = self._loop.create_future()
        self._waits.append(ended)
        self.set()
        await ended

    def begin(self) -> list[asyncio.Future[None]]:
        """Who waits for the end of the round that begins now."""
        waits, self._waits = self._waits, []
        return waits

    @staticmethod
    def end(waits: list[asyncio.Future[None]]) -> None:
        for wait in waits:
            if not wait.done():
                wait.set_result(None)
