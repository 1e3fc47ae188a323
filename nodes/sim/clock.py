"""Virtual time as one server sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from nodes.sim.loop import Handle, Machine

EPOCH_NS = 1_700_000_000_000_000_000
"""What wall clocks say when a simulation begins."""


class SimClock:
    def __init__(self, machine: Machine, skew_ns: int = 0):
        self._machine = machine
        self._loop = machine.loop
        self.skew_ns = skew_ns

    def monotonic_ns(self) -> int:
        return self._loop.now_ns

    def wall_ns(self) -> int:
        return EPOCH_NS + self._loop.now_ns + self.skew_ns

    async def sleep(self, duration_ns: int) -> None:
        """The world ends it, so that a machine has one step less to do; a paused one goes on when it is resumed."""
        loop = self._loop
        over: asyncio.Future[None] = asyncio.Future(loop=loop)
        loop.at(loop.now_ns + max(0, duration_ns), finish, over)
        await over

    def call_later(self, duration_ns: int, step: Callable[..., None], *args: Any) -> Handle:
        return self._machine.call_later(duration_ns, step, *args)


def finish(over: asyncio.Future[None]) -> None:
    if not over.done():
        over.set_result(None)
