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
        over: asyncio.Future[None] = asyncio.Future(loop=self._loop)
        handle = self._machine.call_later(duration_ns, _wake, over)
        try:
            await over
        finally:
            handle.cancel()

    def call_later(self, duration_ns: int, step: Callable[..., None], *args: Any) -> Handle:
        return self._machine.call_later(duration_ns, step, *args)


def _wake(over: asyncio.Future[None]) -> None:
    if not over.done():
        over.set_result(None)
