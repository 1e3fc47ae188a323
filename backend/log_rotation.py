"""Bounds the error logs of a cluster's processes: a long one moves to a file beside it, in place of the one before."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from pathlib import Path

EVERY_S = 60.0
LONGEST_BYTES = 8 << 20


async def keep_rotated(directory: Path) -> None:
    """Looks at the logs once a minute until the task is cancelled."""
    while True:
        await asyncio.sleep(EVERY_S)
        await asyncio.to_thread(rotate, directory)


def rotate(directory: Path) -> None:
    """Processes go on writing to the same file, which they append to: what one writes between the copy and the cut is lost. A log that cannot be
    copied stays as it is."""
    for file in directory.glob("*.err"):
        with contextlib.suppress(OSError):
            if file.stat().st_size > LONGEST_BYTES:
                shutil.copyfile(file, file.with_suffix(".err.1"))
                os.truncate(file, 0)
