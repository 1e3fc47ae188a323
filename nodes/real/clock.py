"""The machine's clocks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
SECOND = 1_000_000_000


def monotonic_ns() -> int:
    """A clock that also runs while the process is stopped, and (on Linux) while the machine sleeps."""
    return time.clock_gettime_ns(_CLOCK)


class RealClock:
    def __init__(self, loop: asyncio.AbstractEventLoop):
        self._loop = loop
        self.monotonic_ns = monotonic_ns
        self.skew_ns = 0
        """Error of this process's wall clock."""

    def wall_ns(self) -> int:
        return time.time_ns() + self.skew_ns

    async def sleep(self, duration_ns: int) -> None:
        await asyncio.sleep(max(0, duration_ns) / SECOND)

    def call_later(self, duration_ns: int, step: Callable[..., None], *args: Any) -> asyncio.TimerHandle:
        return self._loop.call_later(max(0, duration_ns) / SECOND, step, *args)
