"""`events.db`: its tables, and the checks when it is opened."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import aiosqlite
import msgspec

from backend.errors import ClusterCannotStart
from backend.store.buckets import Bucket
from backend.store.latencies import LatencyHistogram
from backend.store.retention import KEPT_S, thin
from backend.store.tiers import CALLS
from nodes.format_number import of_other_version
from nodes.kinds import KINDS

MAGIC = 0x436C6F76
FORMAT = 6
OF_FORMAT_1 = "ALTER TABLE events ADD COLUMN cause_server TEXT NOT NULL DEFAULT ''"
"""What makes a database of format 1 one of format 2."""
OF_FORMAT_5 = "ALTER TABLE events ADD COLUMN carrier TEXT NOT NULL DEFAULT ''"
"""What makes a database of format 5 one of format 6."""
FENCED_IN_FORMAT_2 = "answers nobody: its coordination session is not confirmed"
"""The warning that stood for what is a field of its own since."""

TABLES = """
CREATE TABLE runs (
    run INTEGER PRIMARY KEY, protocol TEXT NOT NULL, started_at TEXT NOT NULL, seen_at TEXT NOT NULL,
    ended_at TEXT,
    started_ns INTEGER NOT NULL, first_seq INTEGER NOT NULL, last_seq INTEGER NOT NULL
);
CREATE TABLE events (
    seq INTEGER PRIMARY KEY, run INTEGER NOT NULL, server TEXT NOT NULL, boot INTEGER NOT NULL, number
    INTEGER NOT NULL,
    at_ns INTEGER NOT NULL, cause INTEGER NOT NULL, kind TEXT NOT NULL, sn INTEGER, body BLOB NOT NULL,
    cause_server TEXT NOT NULL DEFAULT '', carrier TEXT NOT NULL DEFAULT ''
);
CREATE INDEX events_by_kind ON events (kind, run, seq) WHERE sn IS NULL;
CREATE INDEX events_by_sn ON events (sn, seq) WHERE sn IS NOT NULL;
CREATE TABLE positions (server TEXT PRIMARY KEY, number INTEGER NOT NULL);
CREATE TABLE pictures (run INTEGER NOT NULL, seq INTEGER NOT NULL, at_ns INTEGER NOT NULL, body BLOB NOT
NULL, PRIMARY KEY (run, seq));
CREATE TABLE buckets (
    run INTEGER NOT NULL, width_ns INTEGER NOT NULL, at_ns INTEGER NOT NULL, ok INTEGER NOT NULL, failed
    INTEGER NOT NULL, latencies BLOB NOT NULL,
    PRIMARY KEY (run, width_ns, at_ns)
) WITHOUT ROWID;
CREATE TABLE failovers (run INTEGER NOT NULL, at_ns INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (run,
at_ns));
"""
"""Tables of the database. `sn` is set only for frequent events (encoding.FREQUENT), which are pruned by their number.
"""


async def connect(path: Path) -> aiosqlite.Connection:
    """Opens or creates the database. Raises ClusterCannotStart for a damaged one, or one of another format."""
    connection = await aiosqlite.connect(path, isolation_level=None)
    try:
        await prepare(connection, path)
    except sqlite3.DatabaseError as error:
        await connection.close()
        raise ClusterCannotStart(
            f"cannot read {path}: {error}; move it away to begin with an empty one"
        ) from None
    except ClusterCannotStart:
        await connection.close()
        raise
    return connection


async def prepare(connection: aiosqlite.Connection, path: Path) -> None:
    magic, form = await pragma(connection, "application_id"), await pragma(connection, "user_version")
    empty = not await (await connection.execute("SELECT 1 FROM sqlite_master LIMIT 1")).fetchone()
    if not empty and (magic != MAGIC or form not in range(1, FORMAT + 1)):
        raise ClusterCannotStart(f"{path} {of_other_version(form, FORMAT)}")
    if empty:
        await connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
    await connection.execute("PRAGMA journal_mode=WAL")
    await connection.execute("PRAGMA synchronous=NORMAL")
    if not empty and form == 1:
        await connection.executescript(f"BEGIN; {OF_FORMAT_1}; PRAGMA user_version=2; COMMIT;")
    if not empty and form < 4:
        await convert_pictures(connection, form)
    if not empty and form < 5:
        await convert_buckets(connection)
    if not empty and form < FORMAT:
        await connection.executescript(f"BEGIN; {OF_FORMAT_5}; PRAGMA user_version={FORMAT}; COMMIT;")
    if empty:
        await connection.executescript(
            f"BEGIN; PRAGMA application_id={MAGIC}; PRAGMA user_version={FORMAT}; {TABLES} COMMIT;"
        )


async def convert_pictures(connection: aiosqlite.Connection, form: int) -> None:
    await connection.execute("BEGIN")
    for run, seq, body in await connection.execute_fetchall("SELECT run, seq, body FROM pictures"):
        found = msgspec.msgpack.decode(body)
        picture = msgspec.msgpack.encode(
            picture_of_format_4(picture_of_format_3(found) if form < 3 else found)
        )
        change = "UPDATE pictures SET body = ? WHERE run = ? AND seq = ?"
        await connection.execute(change, (picture, run, seq))
    await connection.execute("PRAGMA user_version=4")
    await connection.execute("COMMIT")


async def convert_buckets(connection: aiosqlite.Connection) -> None:
    """Until format 4 there were tenths of a second alone. They are summed up, and removed as far as no longer kept."""
    await connection.execute("BEGIN")
    await connection.execute("ALTER TABLE buckets RENAME TO tenths")
    await connection.execute(TABLES[TABLES.index("CREATE TABLE buckets") :].partition(";")[0])
    query = "SELECT run, at_ns, ok, failed, latencies FROM tenths ORDER BY run, at_ns"
    summed: dict[int, tuple[int, Bucket]] = {}
    async with connection.execute(query) as rows:
        async for run, at_ns, ok, failed, latencies in rows:
            tenth = Bucket(at_ns)
            tenth.ok, tenth.failed, tenth.latencies = ok, failed, LatencyHistogram.decode(latencies)
            for width_ns, _ in CALLS:
                begin = at_ns - at_ns % width_ns
                known = summed.get(width_ns)
                if known is None or (known[0], known[1].at_ns) != (run, begin):
                    await put_buckets(connection, [known] if known else [])
                    known = summed[width_ns] = (run, Bucket(begin, width_ns))
                known[1].merge(tenth)
    await put_buckets(connection, list(summed.values()))
    await connection.execute("DROP TABLE tenths")
    ends = await connection.execute_fetchall("SELECT run, max(at_ns) FROM buckets GROUP BY run")
    for run, last_ns in ends:
        await thin(connection, run, last_ns, KEPT_S)
    await connection.execute("PRAGMA user_version=5")
    await connection.execute("COMMIT")


async def put_buckets(connection: aiosqlite.Connection, of_runs: list[tuple[int, Bucket]]) -> None:
    rows = [
        (run, each.width_ns, each.at_ns, each.ok, each.failed, each.latencies.encode())
        for run, each in of_runs
    ]
    await connection.executemany("INSERT OR REPLACE INTO buckets VALUES (?,?,?,?,?,?)", rows)


def picture_of_format_3(picture: dict[str, Any]) -> dict[str, Any]:
    """Of format 2 the wording of a server's warning said that it is fenced, and data nodes counted `octets`."""
    for server in picture.get("servers", {}).values():
        if server["warning"] == FENCED_IN_FORMAT_2:
            server |= {"warning": "", "fenced": True}
    for node in picture.get("data_nodes", {}).values():
        if "octets" in node:
            node["size"] = node.pop("octets")
    return picture


def picture_of_format_4(picture: dict[str, Any]) -> dict[str, Any]:
    """Until format 3 each kind of node had a table of its own."""
    nodes: dict[str, Any] = {}
    for kind in (KINDS["journal_node"], KINDS["data_node"]):
        for name, row in picture.pop(kind.table, {}).items():
            figures = {column.field: row.pop(column.field, 0) for column in kind.columns}
            nodes[name] = {**row, "kind": kind.name, "figures": figures}
    return {**picture, "nodes": nodes}


async def pragma(connection: aiosqlite.Connection, name: str) -> int:
    row = await (await connection.execute(f"PRAGMA {name}")).fetchone()
    assert row is not None
    return int(row[0])
