"""The lines of a file as the rows of a database."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from backend.run_files.reader import RunFileReader
from backend.run_files.records import (
    BucketLine,
    EventLine,
    FailoverLine,
    PictureLine,
    RunFileDamaged,
    RunHeader,
)
from backend.store.encoding import INTO_EVENTS, row_of
from backend.store.imported_runs import new_database

INSERTS: dict[type, str] = {
    PictureLine: "INSERT INTO pictures VALUES (?,?,?,?)",
    FailoverLine: "INSERT INTO failovers VALUES (?,?,?)",
    BucketLine: "INSERT INTO buckets VALUES (?,?,?,?,?,?)",
    EventLine: f"INSERT {INTO_EVENTS}",
}
_encode = msgspec.msgpack.Encoder().encode


class RunDatabase:
    """Takes the bytes of a file; `close` must follow. What it raises leaves a database that must be removed."""

    def __init__(self, path: Path, run: int):
        """Raises sqlite3.Error."""
        self._path = path
        self._run = run
        self._connection = new_database(path)
        self._reader = RunFileReader()
        self._header: RunHeader | None = None

    def take(self, data: bytes) -> None:
        """Raises RunFileDamaged and sqlite3.Error."""
        rows: dict[type, list[Any]] = {}
        for line in self._reader.lines(data):
            if isinstance(line, RunHeader):
                self._header = line
                continue
            try:
                rows.setdefault(type(line), []).append(self._row(line))
            except OverflowError:
                raise RunFileDamaged(
                    f"line {self._reader.lines_read}: a number has more than 64 bits"
                ) from None
            if len(rows[type(line)]) >= 1_000:
                self._write(rows)
        self._write(rows)

    def finish(self, imported_at: str) -> RunHeader:
        """The header of the whole run, which is on the disk. Raises RunFileDamaged, sqlite3.Error and OSError."""
        self._reader.finish()
        header = self._header
        assert header is not None
        origin = f"run {header.run} of {header.cluster.cluster}"
        self._connection.execute(
            "INSERT INTO runs VALUES (?,?,?,?,?,?,?,?)",
            (
                self._run, header.cluster.protocol, header.started_at, header.ended_at, header.ended_at,
                header.started_ns, header.first_seq, header.last_seq,
            ),
        )  # fmt: skip
        row = (origin, imported_at, msgspec.json.encode(header))
        self._connection.execute("INSERT INTO imports VALUES (?,?,?)", row)
        self._connection.execute("COMMIT")
        self._connection.close()
        with self._path.open("rb") as file:
            os.fsync(file.fileno())
        return header

    def close(self) -> None:
        self._connection.close()

    def _write(self, rows: dict[type, list[Any]]) -> None:
        for kind, of_kind in rows.items():
            self._connection.executemany(INSERTS[kind], of_kind)
        rows.clear()

    def _row(self, line: Any) -> Iterable[Any]:
        if isinstance(line, EventLine):
            return row_of(line.stamped, line.seq, self._run)
        if isinstance(line, PictureLine):
            return (self._run, line.picture.seq, line.picture.at_ns, _encode(line.picture))
        if isinstance(line, BucketLine):
            counts = _encode(line.latencies)
            return (self._run, line.width_ns, line.at_ns, line.ok, line.failed, counts)
        return (self._run, line.at_ns, _encode(line.failover))
