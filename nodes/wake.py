"""Wake-up of a sleeping procedure when there is work. `asyncio.Event` would look up the running loop, a system call, at each wait."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Generic, TypeVar

from nodes.trace.present import UNKNOWN, Cause, causal

Work = TypeVar("Work")


class Wake:
    """Must be made inside the running loop; one waiter at a time. The waiter continues with the cause of the first `set` since its last wait."""

    __slots__ = ("_causal", "_loop", "_set", "_set_by", "_waiter")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._causal = causal(self._loop)
        self._set = False
        self._set_by: Cause = UNKNOWN
        self._waiter: asyncio.Future[None] | None = None

    def set(self) -> None:
        if not self._set:
            self._set_by = self._causal.cause
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
        self._causal.cause = self._causal.began = self._set_by


class Rounds(Wake):
    """A Wake whose procedure works in rounds: it begins one when it has woken, and ends it."""

    __slots__ = ("_waits", "begun", "ended", "slow")

    def __init__(self) -> None:
        super().__init__()
        self.begun = self.ended = 0
        """Number of rounds."""
        self.slow = False
        """Whether a round has ended for which a leader had given its lock away."""
        self._waits: list[asyncio.Future[None]] = []

    @property
    def busy(self) -> bool:
        """Whether a round has begun, or is to begin as soon as the procedure waits for one."""
        return self._set or self.begun > self.ended

    async def over(self) -> None:
        """Wakes the procedure; returns at the end of a round that has not begun yet."""
        ended = self._loop.create_future()
        self._waits.append(ended)
        self.set()
        await ended

    def begin(self) -> list[asyncio.Future[None]]:
        """The futures of the callers that wait for the end of the round that begins now."""
        waits, self._waits = self._waits, []
        self.begun += 1
        return waits

    def end(self, waits: list[asyncio.Future[None]]) -> None:
        self.ended += 1
        for wait in waits:
            if not wait.done():
                wait.set_result(None)


class Inbox(Generic[Work]):
    """Messages that wait for one procedure, each with its own cause. The sync during which a message arrives is not its cause."""

    __slots__ = ("_causal", "_waiting")

    def __init__(self) -> None:
        self._causal = causal(asyncio.get_running_loop())
        self._waiting: list[tuple[str, Work, Cause]] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, peer: str, message: Work) -> None:
        self._waiting.append((peer, message, self._causal.cause))

    def take(self) -> Iterator[tuple[str, Work]]:
        """All waiting messages. Between two of them the procedure may wait for other events."""
        waiting, self._waiting = self._waiting, []
        for peer, message, cause in waiting:
            self._causal.cause = self._causal.began = cause
            yield peer, message
