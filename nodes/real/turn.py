"""The end of a turn: emitted events are written, then messages are sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from nodes.real.loop import CausalLoop


class Turn:
    """Runs its steps once, in order, after all ready callbacks."""

    def __init__(self, loop: asyncio.AbstractEventLoop):
        self._loop = loop
        self._soon = loop.call_soon_without_cause if isinstance(loop, CausalLoop) else loop.call_soon
        self._steps: list[Callable[[], None]] = []
        self._scheduled = False

    def at_end(self, step: Callable[[], None]) -> None:
        """Adds a step to every end of a turn."""
        self._steps.append(step)

    def wanted(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._soon(self._end)

    def _end(self) -> None:
        self._scheduled = False
        for step in self._steps:
            step()

    async def over(self) -> None:
        """Returns when the present output has been handed to the system."""
        self.wanted()
        passed: asyncio.Future[None] = self._loop.create_future()
        self._loop.call_soon(_pass, passed)
        await passed


def _pass(passed: asyncio.Future[None]) -> None:
    """Completes the future; its waiter may have been cancelled in this very turn."""
    if not passed.done():
        passed.set_result(None)
