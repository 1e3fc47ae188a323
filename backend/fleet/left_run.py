"""What a simulated cluster left behind when its control plane ended: enough to repeat its run."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import msgspec

from backend.errors import NotThere
from backend.fabrics.home import ClusterFile
from backend.simulated.inputs import PastRun

NEWEST = """SELECT max(
  coalesce((SELECT max(at_ns) FROM (SELECT at_ns FROM events ORDER BY seq DESC LIMIT 100)), 0),
  coalesce((SELECT max(at_ns) FROM buckets), 0))"""


class LeftRun(msgspec.Struct, frozen=True):
    file: ClusterFile
    past: PastRun
    """Up to the last instant that was stored."""


def left_run(directory: Path) -> LeftRun:
    """The newest run of a cluster's directory. Raises NotThere when the directory is gone or cannot be read."""
    try:
        file = msgspec.json.decode((directory / "cluster.json").read_bytes(), type=ClusterFile)
        logs = sorted((directory / "inputs").glob("*.jsonl"), key=lambda path: int(path.stem))
        return LeftRun(file, PastRun(str(logs[-1]), newest_ns(directory / "events.db")))
    except (OSError, ValueError, IndexError, msgspec.DecodeError, sqlite3.Error):
        raise NotThere(f"the run of {directory.name} cannot be repeated: begin again") from None


def newest_ns(database: Path) -> int:
    """Raises sqlite3.Error."""
    with contextlib.closing(sqlite3.connect(f"{database.as_uri()}?mode=rw", uri=True)) as connection:
        return int(connection.execute(NEWEST).fetchone()[0])
