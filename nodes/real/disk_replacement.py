"""Replaces a server's disk with an empty one."""

from __future__ import annotations

import shutil
from pathlib import Path

KEPT = ("trace", "lock", "process.json")
"""Entries that a new disk keeps: trace, lock and configuration belong to the person or program that runs the server."""


def wipe(root: Path) -> None:
    """Removes everything that a stopped server has stored below its directory. Raises OSError."""
    for path in root.iterdir() if root.is_dir() else ():
        if path.name in KEPT:
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
