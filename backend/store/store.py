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

from backend.errors import ClusterCannotStart, Unavailable, reason_of
from backend.picture import Picture
from backend.store.buckets import Bucket
from backend.store.encoding import INTO_EVENTS, row_of, worth_storing
from backend.store.imported_runs import ImportedRuns
from backend.store.readers import ReadConnections
from backend.store.retention import KEPT_EVENTS, KEPT_S, forget_part, forget_runs, give_back, prune, thin
from backend.store.schema import connect, put_buckets
from backend.store.tiers import SECOND_NS
from backend.store.write_queue import ROWS_MOST, Pending
from nodes.trace.events import Stamped

BATCH_S = 0.04
TRY_AGAIN_S = 1.0
PRUNE_EVERY = 50_000
THIN_EVERY_NS = 60 * SECOND_NS

INSERT = f"INSERT OR REPLACE {INTO_EVENTS}"


class EventStore:
    """Writes go through `append` and `keep_…`, which never wait; a task writes them. Sequence numbers continue over runs."""

    def __init__(
        self,
        path: Path,
        writer: aiosqlite.Connection,
        reader: ReadConnections,
        imported: ImportedRuns,
        kept_events: int,
        kept_s: int,
        on_trouble: Callable[[str], None],
    ):
        self.path = path
        self.reader = reader
        self.imported = imported
        self.run = 0
        self.first_seq = 1
        self.seq = 0
        self.removed: set[int] = set()
        """Runs that were removed since the start, or are about to be."""
        self.positions: dict[str, int] = {}
        """By server: number of the last event that the database has, or has left out for good."""
        self._writer = writer
        self._kept_events = kept_events
        self.kept_s = kept_s
        """Age in seconds beyond which the past is removed."""
        self._pending = Pending()
        self._unpruned = 0
        self._thinned_ns = 0
        self._newest_ns = 0
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
        kept_s: int = KEPT_S,
        on_trouble: Callable[[str], None] = lambda line: None,
    ) -> EventStore:
        """Raises ClusterCannotStart when the file is damaged or of another format."""
        writer = await connect(path)
        reader = await ReadConnections.open(path)
        imported = await ImportedRuns.open(path.with_name("imported"), on_trouble)
        store = cls(path, writer, reader, imported, kept_events, kept_s, on_trouble)
        row = await (await writer.execute("SELECT max(seq) FROM events")).fetchone()
        last = await (await writer.execute("SELECT max(last_seq) FROM runs")).fetchone()
        store.seq = max((row and row[0]) or 0, (last and last[0]) or 0)
        async with writer.execute("SELECT server, number FROM positions") as rows:
            store.positions = {str(server): int(number) async for server, number in rows}
        return store

    async def begin_run(self, protocol: str, started_ns: int) -> int:
        """Ends the run that a killed control plane left open, and begins the next one. Raises ClusterCannotStart."""
        try:
            return await self._begin_run(protocol, started_ns)
        except sqlite3.OperationalError as error:
            raise ClusterCannotStart(f"cannot write {self.path}: {error}") from None

    async def _begin_run(self, protocol: str, started_ns: int) -> int:
        now = wall()
        await self._writer.execute("UPDATE runs SET ended_at = seen_at WHERE ended_at IS NULL")
        row = await (await self._writer.execute("SELECT coalesce(max(run), 0) + 1 FROM runs")).fetchone()
        assert row is not None
        self.run, self.first_seq = max(int(row[0]), self.imported.newest + 1), self.seq + 1
        await self._writer.execute(
            "INSERT INTO runs VALUES (?,?,?,?,NULL,?,?,?)",
            (self.run, protocol, now, now, started_ns, self.first_seq, self.seq),
        )
        self._newest_ns = self._thinned_ns = started_ns
        await forget_runs(self._writer, self.run, self.kept_s)
        await self.imported.forget(self.run, self.kept_s)
        self._task = asyncio.create_task(self._write_on(), name="store")
        self._task.add_done_callback(self._ended)
        return self.run

    def reader_of(self, run: int) -> ReadConnections:
        """The connections to the database that has this run."""
        imported = self.imported.get(run)
        return self.reader if imported is None else imported.reader

    def append(self, stamped: list[Stamped]) -> list[tuple[int, Stamped]]:
        """Numbers the events that are stored one by one and queues them for the writer."""
        numbered, pending = [], self._pending
        for one in stamped:
            pending.moved[one.server] = one.number
            if worth_storing(one.event):
                self.seq += 1
                pending.rows.append(row_of(one, self.seq, self.run))
                numbered.append((self.seq, one))
        if stamped:
            self._newest_ns = max(self._newest_ns, stamped[-1].at_ns)
        pending.bound()
        return numbered

    def keep_buckets(self, buckets: list[Bucket]) -> None:
        for bucket in buckets:
            self._pending.buckets[bucket.width_ns, bucket.at_ns] = bucket

    def keep_picture(self, picture: Picture) -> None:
        row = (self.run, picture.seq, picture.at_ns, msgspec.msgpack.encode(picture))
        self._pending.pictures.append(row)

    def keep_failover(self, at_ns: int, failover: msgspec.Struct) -> None:
        self._pending.failovers.append((self.run, at_ns, msgspec.msgpack.encode(failover)))

    async def remove(self, run: int) -> None:
        """Removes a past run; from now on nobody finds it. Its rows go in parts, between which others are written. Raises Unavailable."""
        self.removed.add(run)
        try:
            if not await self.imported.remove(run):
                while await self._remove_part(run):
                    pass
        except (sqlite3.Error, OSError) as error:
            self.removed.discard(run)
            why = reason_of(error) if isinstance(error, OSError) else error
            raise Unavailable(f"run {run} cannot be removed: {why}") from None

    async def _remove_part(self, run: int) -> bool:
        async with self._writing:
            if self._closing.is_set():
                raise Unavailable(f"the control plane ends: remove run {run} again")
            more = await forget_part(self._writer, run)
            await give_back(self._writer)
            return more

    async def flush(self) -> None:
        """Waits until all queued rows are in the database, unless there is `trouble`."""
        async with self._writing:
            await self._write()

    async def close(self) -> None:
        self._closing.set()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)
        try:
            await self.flush()
            with contextlib.suppress(sqlite3.OperationalError):
                await self._writer.execute("UPDATE runs SET ended_at = ? WHERE run = ?", (wall(), self.run))
        finally:
            await self.reader.interrupt()
            await self.reader.close()
            await self.imported.close()
            await self._writer.close()

    async def _write_on(self) -> None:
        while not self._closing.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), TRY_AGAIN_S if self.trouble else BATCH_S)
            await self.flush()

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Reports a writer that ended by an error of its own."""
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._report(f"nothing is written to {self.path} any more: {type(error).__name__}: {error}")

    async def _write(self) -> None:
        pending, self._pending = self._pending, Pending()
        try:
            if pending:
                await self._write_all(pending)
                self.positions |= pending.moved
                self._unpruned += len(pending.rows)
        except sqlite3.Error as error:
            await self._roll_back()
            self._pending = pending.put_before(self._pending)
            self._report(self._why(error))
            return
        try:
            await self._remove_old()
        except sqlite3.Error as error:
            await self._roll_back()
            self._report(self._why(error))
            return
        if pending.left_out:
            self._on_trouble(f"{self.path} can be written again; {pending.left_out} events were left out")
        self._report("")

    def _why(self, error: sqlite3.Error) -> str:
        return f"cannot write {self.path}: {error}; the newest {ROWS_MOST} events wait in memory until it can"

    async def _roll_back(self) -> None:
        if self._writer.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                await self._writer.rollback()

    def _report(self, trouble: str) -> None:
        if trouble and not self.trouble:
            self._on_trouble(trouble)
        self.trouble = trouble

    async def _write_all(self, pending: Pending) -> None:
        """Writes everything in one transaction. Raises sqlite3.Error."""
        writer, run, rows = self._writer, self.run, pending.rows
        await writer.execute("BEGIN IMMEDIATE")
        await writer.executemany(INSERT, rows)
        await writer.executemany("INSERT OR REPLACE INTO positions VALUES (?,?)", list(pending.moved.items()))
        await put_buckets(writer, [(run, bucket) for bucket in pending.buckets.values()])
        await writer.executemany("INSERT OR REPLACE INTO pictures VALUES (?,?,?,?)", pending.pictures)
        await writer.executemany("INSERT OR REPLACE INTO failovers VALUES (?,?,?)", pending.failovers)
        last = rows[-1][0] if rows else 0
        await writer.execute(
            "UPDATE runs SET seen_at = ?, last_seq = max(last_seq, ?) WHERE run = ?", (wall(), last, run)
        )
        await writer.execute("COMMIT")

    async def _remove_old(self) -> None:
        """Raises sqlite3.Error."""
        if self._unpruned >= min(PRUNE_EVERY, self._kept_events):
            self._unpruned = 0
            await prune(self._writer, self._kept_events)
        if self._newest_ns - self._thinned_ns >= THIN_EVERY_NS:
            self._thinned_ns = self._newest_ns
            await thin(self._writer, self.run, self._newest_ns, self.kept_s)
            await give_back(self._writer)


def wall() -> str:
    """The time of day, for people: UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
