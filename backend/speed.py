"""The slowness of this machine in relation to a reference: real servers cannot keep the same times everywhere."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REFERENCE_MS = 12.0
"""Time of one piece of work on two idle cores of 2.5 GHz with a journalling file system."""
PROCESSORS = 2
"""Processors of the reference. As many processes work at once, because servers share the machine."""
PIECES = 12
LOOPS = 120_000
SYNCS = 4
MOST = 4.0
SET = "CLOVERLAB_SLOWNESS"
"""Environment variable that sets the factor in place of a measurement."""


def piece_ms() -> float:
    """Milliseconds for a fixed piece of pure Python with some synced writes."""
    with tempfile.TemporaryFile() as file:
        began = time.perf_counter()
        for part in range(SYNCS):
            table: dict[int, int] = {}
            for number in range(LOOPS // SYNCS):
                table[number & 1023] = number * part
            file.write(bytes(4096))
            file.flush()
            os.fsync(file.fileno())
        return (time.perf_counter() - began) * 1_000


def mean_ms() -> float:
    """Mean time of some pieces without the slowest: busy neighbours count as a slower machine, a single hiccup of the disk does not."""
    return statistics.fmean(sorted(piece_ms() for _ in range(PIECES))[:-1])


def measured() -> float:
    """Ratio to the reference when as many processes work as it has processors; at least 1."""
    command = [sys.executable, "-m", "backend.speed"]
    working = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) for _ in range(PROCESSORS)]
    return factor_of(statistics.fmean(float(process.communicate()[0]) for process in working))


def factor_of(took_ms: float) -> float:
    """Factor for a time; at least 1, at most the longest that a test can wait."""
    return round(min(MOST, max(1.0, took_ms / REFERENCE_MS)), 2)


@cache
def slowness() -> float:
    """The factor of this machine, measured once in each process unless the environment sets it."""
    reported = os.environ.get(SET, "")
    try:
        return min(MOST, max(1.0, float(reported))) if reported else measured()
    except ValueError:
        return measured()


if __name__ == "__main__":
    print(mean_ms())
