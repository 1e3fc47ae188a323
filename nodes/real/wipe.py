"""An empty disk in the place of a server's."""

from __future__ import annotations

import shutil
from pathlib import Path

KEPT = ("trace", "lock", "process.json")
"""What the server was started with and what it has emitted: those who run it have that, and its disk may go."""


def wipe(root: Path) -> None:
    """Removes all that a stopped server has stored below its directory. Raises OSError."""
    for path in root.iterdir() if root.is_dir() else ():
        if path.name in KEPT:
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
