"""The event store: one writer, batches of at most 50 ms, a bound on its size."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import aiosqlite
import msgspec

from backend.errors import CannotStart
from backend.picture import Picture
from backend.store.buckets import Bucket
from backend.store.encoding import Row, row_of, worth_storing
from backend.store.schema import connect
from nodes.trace.events import Stamped

BATCH_S = 0.04
TRY_AGAIN_S = 1.0
KEPT_EVENTS = 2_000_000
"""Number of journal events (Durable, Committed, Applied) kept over all runs, the newest. Every other event stays as long as its run."""
KEPT_RUNS = 20
PRUNE_EVERY = 50_000
PRUNE_AT_ONCE = 20_000

INSERT = "INSERT OR REPLACE INTO events VALUES (?,?,?,?,?,?,?,?,?,?,?)"


class Store:
    """Writes go through `append` and `keep_…`, which never wait; a task writes them. Sequence numbers continue over runs."""

    def __init__(
        self,
        path: Path,
        writer: aiosqlite.Connection,
        reader: aiosqlite.Connection,
        kept_events: int,
        on_trouble: Callable[[str], None],
    ):
        self.path = path
        self.reader = reader
        self.run = 0
        self.first_seq = 1
        self.seq = 0
        self.positions: dict[str, int] = {}
        """By server: number of the last event that the database has, or has left out for good."""
        self._writer = writer
        self._kept_events = kept_events
        self._rows: list[Row] = []
        self._moved: dict[str, int] = {}
        self._buckets: dict[int, Bucket] = {}
        self._pictures: list[tuple[int, int, int, bytes]] = []
        self._failovers: list[tuple[int, int, bytes]] = []
        self._unpruned = 0
        self._task: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()
        self._closing = asyncio.Event()
        self.trouble = ""
        """Why nothing can be written now; empty when everything was. What waits is kept, and written when it can be."""
        self._on_trouble = on_trouble

    @classmethod
    async def open(
        cls,
        path: Path,
        kept_events: int = KEPT_EVENTS,
        on_trouble: Callable[[str], None] = lambda line: None,
    ) -> Store:
        """Raises CannotStart when the file is damaged or of another format."""
        writer = await connect(path)
        reader = await aiosqlite.connect(path, isolation_level=None)
        store = cls(path, writer, reader, kept_events, on_trouble)
        row = await (await writer.execute("SELECT max(seq) FROM events")).fetchone()
        last = await (await writer.execute("SELECT max(last_seq) FROM runs")).fetchone()
        store.seq = max((row and row[0]) or 0, (last and last[0]) or 0)
        async with writer.execute("SELECT server, number FROM positions") as rows:
            store.positions = {str(server): int(number) async for server, number in rows}
        return store

    async def begin_run(self, protocol: str, started_ns: int) -> int:
        """Ends the run that a killed control plane left open, and begins the next one. Raises CannotStart."""
        try:
            return await self._begin_run(protocol, started_ns)
        except sqlite3.OperationalError as error:
            raise CannotStart(f"cannot write {self.path}: {error}") from None

    async def _begin_run(self, protocol: str, started_ns: int) -> int:
        now = wall()
        await self._writer.execute("UPDATE runs SET ended_at = seen_at WHERE ended_at IS NULL")
        row = await (await self._writer.execute("SELECT coalesce(max(run), 0) + 1 FROM runs")).fetchone()
        assert row is not None
        self.run, self.first_seq = int(row[0]), self.seq + 1
        await self._writer.execute(
            "INSERT INTO runs VALUES (?,?,?,?,NULL,?,?,?)",
            (self.run, protocol, now, now, started_ns, self.first_seq, self.seq),
        )
        await self._forget_runs(self.run - KEPT_RUNS)
        self._task = asyncio.create_task(self._write_on(), name="store")
        return self.run

    def append(self, stamped: list[Stamped]) -> list[tuple[int, Stamped]]:
        """Numbers the events that are stored one by one and queues them for the writer."""
        numbered = []
        for one in stamped:
            self._moved[one.server] = one.number
            if worth_storing(one.event):
                self.seq += 1
                self._rows.append(row_of(one, self.seq, self.run))
                numbered.append((self.seq, one))
        return numbered

    def keep_buckets(self, buckets: list[Bucket]) -> None:
        for bucket in buckets:
            self._buckets[bucket.at_ns] = bucket

    def keep_picture(self, picture: Picture) -> None:
        self._pictures.append((self.run, picture.seq, picture.at_ns, msgspec.msgpack.encode(picture)))

    def keep_failover(self, at_ns: int, failover: msgspec.Struct) -> None:
        self._failovers.append((self.run, at_ns, msgspec.msgpack.encode(failover)))

    async def flush(self) -> None:
        """Waits until all queued rows are in the database, unless there is `trouble`."""
        async with self._writing:
            await self._write()

    async def close(self) -> None:
        self._closing.set()
        if self._task is not None:
            await self._task
        try:
            await self.flush()
            with contextlib.suppress(sqlite3.OperationalError):
                await self._writer.execute("UPDATE runs SET ended_at = ? WHERE run = ?", (wall(), self.run))
        finally:
            await self.reader.close()
            await self._writer.close()

    async def _write_on(self) -> None:
        while not self._closing.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), TRY_AGAIN_S if self.trouble else BATCH_S)
            await self.flush()

    async def _write(self) -> None:
        if not (self._rows or self._buckets or self._pictures or self._moved or self._failovers):
            return
        rows, self._rows = self._rows, []
        moved, self._moved = self._moved, {}
        buckets, self._buckets = self._buckets, {}
        pictures, self._pictures = self._pictures, []
        failovers, self._failovers = self._failovers, []
        try:
            await self._write_all(rows, moved, buckets, pictures, failovers)
        except sqlite3.OperationalError as error:
            if self._writer.in_transaction:
                await self._writer.rollback()
            self._rows, self._pictures = rows + self._rows, pictures + self._pictures
            self._failovers = failovers + self._failovers
            self._moved, self._buckets = moved | self._moved, buckets | self._buckets
            self._report(f"cannot write {self.path}: {error}; events wait in memory until it can")
            return
        self.positions |= moved
        self._report("")
        self._unpruned += len(rows)
        if self._unpruned >= min(PRUNE_EVERY, self._kept_events):
            await self._prune()

    def _report(self, trouble: str) -> None:
        if trouble and not self.trouble:
            self._on_trouble(trouble)
        self.trouble = trouble

    async def _write_all(
        self,
        rows: list[Row],
        moved: dict[str, int],
        buckets: dict[int, Bucket],
        pictures: list[tuple[int, int, int, bytes]],
        failovers: list[tuple[int, int, bytes]],
    ) -> None:
        """Writes everything in one transaction. Raises sqlite3.OperationalError."""
        run = self.run
        counts = [(run, b.at_ns, b.ok, b.failed, b.latencies.encode()) for b in buckets.values()]
        await self._writer.execute("BEGIN IMMEDIATE")
        await self._writer.executemany(INSERT, rows)
        await self._writer.executemany("INSERT OR REPLACE INTO positions VALUES (?,?)", list(moved.items()))
        await self._writer.executemany("INSERT OR REPLACE INTO buckets VALUES (?,?,?,?,?)", counts)
        await self._writer.executemany("INSERT OR REPLACE INTO pictures VALUES (?,?,?,?)", pictures)
        await self._writer.executemany("INSERT OR REPLACE INTO failovers VALUES (?,?,?)", failovers)
        last = rows[-1][0] if rows else 0
        await self._writer.execute(
            "UPDATE runs SET seen_at = ?, last_seq = max(last_seq, ?) WHERE run = ?", (wall(), last, run)
        )
        await self._writer.execute("COMMIT")

    async def _prune(self) -> None:
        """Removes the oldest journal events beyond the bound, in small portions."""
        self._unpruned = 0
        count = await (
            await self._writer.execute("SELECT count(*) FROM events WHERE sn IS NOT NULL")
        ).fetchone()
        excess = (count[0] if count else 0) - self._kept_events
        while excess > 0:
            await self._writer.execute(
                "DELETE FROM events WHERE seq IN"
                " (SELECT seq FROM events WHERE sn IS NOT NULL ORDER BY seq LIMIT ?)",
                (min(excess, PRUNE_AT_ONCE),),
            )
            excess -= PRUNE_AT_ONCE

    async def _forget_runs(self, last: int) -> None:
        for table in ("events", "pictures", "buckets", "failovers", "runs"):
            await self._writer.execute(f"DELETE FROM {table} WHERE run <= ?", (last,))


def wall() -> str:
    """The time of day, for people: UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
