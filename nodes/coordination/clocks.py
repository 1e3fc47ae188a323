"""The server process's clocks: the only place of this package that looks at the time."""

from __future__ import annotations

import time


def wall_ms() -> int:
    """Since 1970: for ctime and mtime."""
    return time.time_ns() // 1_000_000


def monotonic_ns() -> int:
    """Goes on while the process is stopped; the clock of traces on this machine."""
    return time.monotonic_ns()


def monotonic_ms() -> int:
    """For sessions' time-outs."""
    return time.monotonic_ns() // 1_000_000
