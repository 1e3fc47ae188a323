"""Virtual time as one server measures it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from nodes.faults.table import LARGEST_PPM
from nodes.sim.loop import Handle, Loop, Machine

EPOCH_NS = 1_700_000_000_000_000_000
"""Time of wall clocks when a simulation begins."""


MILLION = 1_000_000


class Rate:
    """The speed of one server's oscillator, in parts per million faster (or slower) than true time; it outlives the server's processes.

    Both clocks count it. The wall clock has its skew besides, and keeps what it gained, as without a time server.
    """

    def __init__(self, loop: Loop, ppm: int = 0):
        self._loop = loop
        self._since_ns = 0
        self._local_ns = 0
        self.ppm = ppm

    def run_at(self, ppm: int) -> None:
        """Changes the speed from now on; running timers keep their due times."""
        assert abs(ppm) <= LARGEST_PPM
        self._local_ns, self._since_ns = self.local_ns(), self._loop.now_ns
        self.ppm = ppm

    def local_ns(self) -> int:
        passed_ns = self._loop.now_ns - self._since_ns
        if self.ppm:
            passed_ns = passed_ns * (MILLION + self.ppm) // MILLION
        return self._local_ns + passed_ns

    def true_ns(self, duration_ns: int) -> int:
        """The true time in which the clock advances by `duration_ns`."""
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
        return EPOCH_NS + self._rate.local_ns() + self.skew_ns

    async def sleep(self, duration_ns: int) -> None:
        """Sleeps. The world ends the sleep, which saves the machine a step; a paused machine continues when it is resumed."""
        loop = self._loop
        over: asyncio.Future[None] = asyncio.Future(loop=loop)
        loop.later(loop.now_ns + max(0, self._rate.true_ns(duration_ns)), finish, over)
        await over

    def call_later(self, duration_ns: int, step: Callable[..., None], *args: Any) -> Handle:
        return self._machine.call_later(self._rate.true_ns(duration_ns), step, *args)


def finish(over: asyncio.Future[None]) -> None:
    if not over.done():
        over.set_result(None)
