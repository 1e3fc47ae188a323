"""The server process's clocks: the only place of this package that reads the time."""

from __future__ import annotations

import time


def wall_ms() -> int:
    """Milliseconds since 1970, for ctime and mtime."""
    return time.time_ns() // 1_000_000


def monotonic_ns() -> int:
    """A clock that also runs while the process is stopped; the clock of traces on this machine."""
    return time.monotonic_ns()


def monotonic_ms() -> int:
    """Milliseconds of the clock for sessions' time-outs."""
    return time.monotonic_ns() // 1_000_000
