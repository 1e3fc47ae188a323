"""The rows of a run as the lines of its file, page by page: no query lasts long, and none holds up the writer of the store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple

import msgspec

from backend.events.failovers import Failover
from backend.picture import Picture
from backend.run_files.records import BucketLine, EventLine, FailoverLine, Line, PictureLine
from backend.store.encoding import stamped_of
from backend.store.queries import COLUMNS, RunRow
from backend.store.readers import ReadConnections


class Table(NamedTuple):
    name: str
    key: tuple[str, ...]
    columns: str
    """Those behind the key."""
    line_of: Callable[[Any], Line]
    rows: int
    """Number of rows of a page."""


def picture(row: Any) -> Line:
    return PictureLine(msgspec.msgpack.decode(row[1], type=Picture))


def failover(row: Any) -> Line:
    return FailoverLine(row[0], msgspec.msgpack.decode(row[1], type=Failover))


def calls(row: Any) -> Line:
    return BucketLine(row[0], row[1], row[2], row[3], msgspec.msgpack.decode(row[4], type=dict[int, int]))


def event(row: Any) -> Line:
    return EventLine(row[0], stamped_of(row[1:]))


TABLES = (
    Table("pictures", ("seq",), "body", picture, 20),
    Table("failovers", ("at_ns",), "body", failover, 1_000),
    Table("buckets", ("width_ns", "at_ns"), "ok, failed, latencies", calls, 1_000),
    Table("events", ("seq",), COLUMNS, event, 1_000),
)


async def lines(reader: ReadConnections, run: RunRow) -> AsyncIterator[list[Line]]:
    """All lines of the run up to its `last_seq`, in the order of the file."""
    for table in TABLES:
        key = ", ".join(table.key)
        query = (
            f"SELECT {key}, {table.columns} FROM {table.name} WHERE run = ? AND ({key}) >"
            f" ({', '.join('?' * len(table.key))}) ORDER BY {key} LIMIT {table.rows}"
        )
        after: tuple[int, ...] = (run.first_seq - 2,) if table.key == ("seq",) else (-1,) * len(table.key)
        while True:
            async with reader.execute(query, (run.run, *after)) as rows:
                found = list(await rows.fetchall())
            if table.key == ("seq",):
                found = [row for row in found if row[0] <= run.last_seq]
            if not found:
                break
            yield [table.line_of(row) for row in found]
            after = tuple(found[-1][: len(table.key)])
