"""Virtual time as one server sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from nodes.faults.table import LARGEST_PPM
from nodes.sim.loop import Handle, Loop, Machine

EPOCH_NS = 1_700_000_000_000_000_000
"""What wall clocks say when a simulation begins."""


MILLION = 1_000_000


class Rate:
    """How fast one server's monotonic clock runs, in parts per million more (or less) than true time; it outlives the server's processes.

    The time of day stays with true time but for its skew, as one that a time server keeps.
    """

    def __init__(self, loop: Loop, ppm: int = 0):
        self._loop = loop
        self._since_ns = 0
        self._local_ns = 0
        self.ppm = ppm

    def run_at(self, ppm: int) -> None:
        """From now on; timers that are set go off when they would have."""
        assert abs(ppm) <= LARGEST_PPM
        self._local_ns, self._since_ns = self.local_ns(), self._loop.now_ns
        self.ppm = ppm

    def local_ns(self) -> int:
        passed_ns = self._loop.now_ns - self._since_ns
        if self.ppm:
            passed_ns = passed_ns * (MILLION + self.ppm) // MILLION
        return self._local_ns + passed_ns

    def true_ns(self, duration_ns: int) -> int:
        """So long it takes until the clock has gone on by `duration_ns`."""
        if not self.ppm:
            return duration_ns
        return -(-duration_ns * MILLION // (MILLION + self.ppm))


class SimClock:
    def __init__(self, machine: Machine, skew_ns: int = 0, rate: Rate | None = None):
        self._machine = machine
        self._loop = machine.loop
        self._rate = rate or Rate(machine.loop)
        self.skew_ns = skew_ns
        self.monotonic_ns = self._rate.local_ns

    def wall_ns(self) -> int:
        return EPOCH_NS + self._loop.now_ns + self.skew_ns

    async def sleep(self, duration_ns: int) -> None:
        """The world ends it, so that a machine has one step less to do; a paused one goes on when it is resumed."""
        loop = self._loop
        over: asyncio.Future[None] = asyncio.Future(loop=loop)
        loop.later(loop.now_ns + max(0, self._rate.true_ns(duration_ns)), finish, over)
        await over

    def call_later(self, duration_ns: int, step: Callable[..., None], *args: Any) -> Handle:
        return self._machine.call_later(self._rate.true_ns(duration_ns), step, *args)


def finish(over: asyncio.Future[None]) -> None:
    if not over.done():
        over.set_result(None)
