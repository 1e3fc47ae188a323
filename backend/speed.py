"""How much slower than the machine of the reference this one is now: real servers cannot hold the same times everywhere."""

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
"""What a piece of work takes on two idle cores of 2.5 GHz with a journalling file system."""
PROCESSORS = 2
"""Of the reference. As many processes work on pieces at once, for servers share all that there are."""
PIECES = 12
LOOPS = 120_000
SYNCS = 4
MOST = 4.0
SET = "CLOVERLAB_SLOWNESS"
"""An environment variable that gives the factor, instead of measuring it."""


def piece_ms() -> float:
    """Milliseconds for a fixed piece of pure Python with some writes that are made durable."""
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
    """Of some pieces but the slowest: a neighbour on the same cores counts as a slower machine, one hiccup of the disk does not."""
    return statistics.fmean(sorted(piece_ms() for _ in range(PIECES))[:-1])


def measured() -> float:
    """At least 1: how many times as long as on the reference its processors' worth of processes take."""
    command = [sys.executable, "-m", "backend.speed"]
    working = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) for _ in range(PROCESSORS)]
    return factor_of(statistics.fmean(float(process.communicate()[0]) for process in working))


def factor_of(took_ms: float) -> float:
    """At least 1, at most as much as a test can wait."""
    return round(min(MOST, max(1.0, took_ms / REFERENCE_MS)), 2)


@cache
def slowness() -> float:
    """Measured once in each process, unless the environment says it."""
    told = os.environ.get(SET, "")
    try:
        return min(MOST, max(1.0, float(told))) if told else measured()
    except ValueError:
        return measured()


if __name__ == "__main__":
    print(mean_ms())
