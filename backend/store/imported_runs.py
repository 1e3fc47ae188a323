"""Runs of other stores, each in a database of its own beside `events.db`: nothing of this store changes by one of them."""

from __future__ import annotations

import contextlib
import re
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiosqlite
import msgspec

from backend.errors import ClusterCannotStart, Impossible
from backend.store.queries import RunRow, run_row
from backend.store.readers import ReadConnections
from backend.store.retention import KEPT_RUNS
from backend.store.schema import FORMAT, MAGIC, TABLES, connect
from backend.vocabulary import lanes
from nodes.config import ClusterConfig

IMPORTS = "CREATE TABLE imports (origin TEXT NOT NULL, imported_at TEXT NOT NULL, header BLOB NOT NULL);"
"""One row: the words for its place of origin, the time of day, and the header of the file that it came in."""
FILE = re.compile(r"^([1-9][0-9]{0,9})\.db$")
FIRST = (
    "SELECT run, protocol, started_at, ended_at, started_ns, first_seq, last_seq, origin, imported_at, header"
    " FROM runs, imports"
)


class OfCluster(msgspec.Struct):
    """The part of a header that says what the cluster was."""

    cluster: ClusterConfig


class ImportedRun(msgspec.Struct):
    row: RunRow
    imported_at: str
    header: bytes
    reader: ReadConnections


class ImportedRuns:
    def __init__(self, directory: Path):
        self._directory = directory
        self._runs: dict[int, ImportedRun] = {}
        self._busy = False

    @classmethod
    async def open(cls, directory: Path, on_trouble: Callable[[str], None]) -> ImportedRuns:
        """Removes what was left of an import that broke off; a run that cannot be read is reported, and stays on the disk."""
        found = cls(directory)
        for path in sorted(directory.iterdir()) if directory.is_dir() else ():
            name = FILE.match(path.name)
            if name is not None and path.is_file():
                try:
                    await found._take(int(name[1]))
                except ClusterCannotStart as error:
                    on_trouble(error.message)
            elif path.suffix == ".part":
                path.unlink()
        return found

    @property
    def newest(self) -> int:
        """The largest number of a run here, 0 for none."""
        return max(self._runs, default=0)

    def rows(self) -> list[RunRow]:
        return [each.row for each in self._runs.values()]

    def get(self, run: int) -> ImportedRun | None:
        return self._runs.get(run)

    @contextlib.asynccontextmanager
    async def adding(self, run: int) -> AsyncIterator[Path]:
        """A file for the database of a further run, which is among the others when the block ends without an error.

        Raises Impossible while another run is added, OSError, and ClusterCannotStart for a file that is no such database.
        """
        if self._busy:
            raise Impossible("another run is being imported: try again when it has ended")
        self._busy = True
        part = self._directory / f"{run}.part"
        try:
            self._directory.mkdir(mode=0o700, exist_ok=True)
            yield part
            part.replace(self._path(run))
            await self._take(run)
            await self.forget(run, None)
        finally:
            part.unlink(missing_ok=True)
            self._busy = False

    async def forget(self, newest: int, kept_s: int | None) -> None:
        """Removes runs that came too long ago, and the oldest of too many: `newest` is the largest number of any run."""
        before = "" if kept_s is None else (datetime.now(UTC) - timedelta(seconds=kept_s)).isoformat()
        for run, each in list(self._runs.items()):
            if run <= newest - KEPT_RUNS or each.imported_at < before:
                await self.remove(run)

    async def remove(self, run: int) -> bool:
        """Removes a run with its database, when what was asked about it is answered. False when there is no such run here. Raises OSError."""
        gone = self._runs.pop(run, None)
        if gone is None:
            return False
        await gone.reader.retire()
        self._path(run).unlink(missing_ok=True)
        return True

    def free_bytes(self) -> int:
        """Bytes that are free on the disk."""
        return shutil.disk_usage(self._directory).free

    async def close(self) -> None:
        for each in self._runs.values():
            await each.reader.interrupt()
            await each.reader.close()

    def _path(self, run: int) -> Path:
        return self._directory / f"{run}.db"

    async def _take(self, run: int) -> None:
        """Raises ClusterCannotStart."""
        path = self._path(run)
        connection = await connect(path)
        try:
            *row, origin, imported_at, header = await only_row(connection)
            cluster = msgspec.json.decode(header, type=OfCluster).cluster
        except (sqlite3.DatabaseError, ValueError):
            await connection.close()
            raise ClusterCannotStart(f"{path} is no imported run: move it away") from None
        known = msgspec.structs.replace(run_row(row, 0), origin=origin, lanes=lanes(cluster))
        self._runs[run] = ImportedRun(known, imported_at, header, ReadConnections([connection]))


async def only_row(connection: aiosqlite.Connection) -> sqlite3.Row:
    [row] = await connection.execute_fetchall(FIRST)
    return row


def new_database(path: Path) -> sqlite3.Connection:
    """An empty database for one run, in a transaction. A crash leaves it useless: it takes its name when it is whole."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.executescript(
        "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
        f" PRAGMA application_id={MAGIC}; PRAGMA user_version={FORMAT}; BEGIN; {TABLES} {IMPORTS}"
    )
    return connection
