"""Queries of the event store. Every function takes the reading connections and reads one run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from backend.errors import NotThere
from backend.picture import Picture
from backend.store.encoding import FREQUENT, named, stamped_of
from backend.store.latencies import LatencyHistogram
from backend.store.readers import ReadConnections
from backend.store.tiers import BUCKET_NS
from backend.vocabulary import Lane
from nodes.trace.events import Stamped
from nodes.trace.prose import Terms

FREQUENT_NAMES = frozenset(kind.__name__ for kind in FREQUENT)
COLUMNS = "server, boot, number, at_ns, cause, body, cause_server, carrier"
BARRIERS_MOST = 1_000
LAST_SEQ = (1 << 62) - 1
LATEST_NS = 1 << 62
"""A time later than any event: the end of the run."""
SKEW_NS = 2_000_000_000
"""Largest delay between an event and its neighbours in the store. Events are stored as they arrive, and a paused server reports late."""


class RunRow(msgspec.Struct, frozen=True):
    run: int
    protocol: str
    started_at: str
    ended_at: str | None
    started_ns: int
    first_seq: int
    last_seq: int
    live: bool
    origin: str = ""
    """Where an imported run was lived; empty for a run of this store."""
    lanes: list[Lane] = []
    """Kinds of node of an imported run's cluster."""


async def runs(reader: ReadConnections, live_run: int, live_seq: int) -> list[RunRow]:
    """Runs, newest first."""
    async with reader.execute(
        "SELECT run, protocol, started_at, ended_at, started_ns, first_seq, last_seq FROM runs"
        " ORDER BY run DESC"
    ) as rows:
        found = [run_row(row, live_run) async for row in rows]
    return [msgspec.structs.replace(row, last_seq=live_seq) if row.live else row for row in found]


def run_row(row: Any, live_run: int) -> RunRow:
    run, protocol, started_at, ended_at, started_ns, first_seq, last_seq = row
    return RunRow(run, protocol, started_at, ended_at, started_ns, first_seq, last_seq, run == live_run)


async def run_named(reader: ReadConnections, run: int, live_run: int, live_seq: int) -> RunRow:
    for row in await runs(reader, live_run, live_seq):
        if row.run == run:
            return row
    raise NotThere(f"there is no run {run}; GET /api/runs lists them")


async def events(
    reader: ReadConnections,
    run: int,
    after: int,
    before: int,
    limit: int,
    kinds: Sequence[str],
    servers: Sequence[str],
) -> list[tuple[int, Stamped]]:
    """At most `limit` events in order, with after < seq < before."""
    where, values = ["run = ?", "seq > ?", "seq < ?"], [run, after, before]
    more: list[Any] = []
    if kinds and not FREQUENT_NAMES.intersection(kinds):
        where.append("sn IS NULL")
    for column, wanted in (("kind", kinds), ("server", servers)):
        if wanted:
            where.append(f"{column} IN ({','.join('?' * len(wanted))})")
            more += wanted
    query = f"SELECT seq, {COLUMNS} FROM events WHERE {' AND '.join(where)} ORDER BY seq LIMIT ?"
    async with reader.execute(query, (*values, *more, limit)) as rows:
        return [(row[0], stamped_of(row[1:])) async for row in rows]


async def rare(reader: ReadConnections, run: int, kinds: Sequence[str]) -> list[tuple[int, Stamped]]:
    """All events of these kinds in a run, in order; only for kinds that do not occur per journal group."""
    marks = ",".join("?" * len(kinds))
    query = (
        f"SELECT seq, {COLUMNS} FROM events WHERE sn IS NULL AND run = ? AND kind IN ({marks}) ORDER BY seq"
    )
    async with reader.execute(query, (run, *kinds)) as rows:
        return [(row[0], stamped_of(row[1:])) async for row in rows]


async def newest(
    reader: ReadConnections, kinds: Sequence[str], last_seq: int, limit: int
) -> list[tuple[int, Stamped]]:
    """The newest `limit` events of these kinds up to `last_seq`, over all runs, in order; only for kinds that do not occur per journal group."""
    return await _newest_where(reader, "seq <= ?", last_seq, kinds, limit)


async def newest_of_run(
    reader: ReadConnections, run: int, kinds: Sequence[str], limit: int
) -> list[tuple[int, Stamped]]:
    """The newest `limit` events of these kinds in a run, in order; only for kinds that do not occur per journal group."""
    return await _newest_where(reader, "run = ?", run, kinds, limit)


async def _newest_where(
    reader: ReadConnections, where: str, value: int, kinds: Sequence[str], limit: int
) -> list[tuple[int, Stamped]]:
    marks = ",".join("?" * len(kinds))
    query = (
        f"SELECT seq, {COLUMNS} FROM events WHERE sn IS NULL AND {where} AND kind IN ({marks})"
        " ORDER BY seq DESC LIMIT ?"
    )
    async with reader.execute(query, (value, *kinds, limit)) as rows:
        found = [(row[0], stamped_of(row[1:])) async for row in rows]
    return found[::-1]


async def last(reader: ReadConnections, limit: int) -> list[tuple[int, Stamped]]:
    """The newest `limit` events of any kind, over all runs, in order."""
    query = f"SELECT seq, {COLUMNS} FROM events ORDER BY seq DESC LIMIT ?"
    async with reader.execute(query, (limit,)) as rows:
        found = [(row[0], stamped_of(row[1:])) async for row in rows]
    return found[::-1]


async def picture_at(reader: ReadConnections, run: RunRow, at_ns: int, last_seq: int = LATEST_NS) -> Picture:
    """The nearest kept picture, and the events between it and that moment, up to `last_seq`."""
    query = "SELECT body FROM pictures WHERE run = ? AND at_ns <= ? AND seq <= ? ORDER BY seq DESC LIMIT 1"
    row = await reader.first(query, (run.run, at_ns, last_seq))
    if row is None:
        row = await reader.first("SELECT body FROM pictures WHERE run = ? ORDER BY seq LIMIT 1", (run.run,))
    picture = msgspec.msgpack.decode(row[0], type=Picture) if row else Picture()
    query = f"SELECT seq, {COLUMNS} FROM events WHERE run = ? AND seq > ? ORDER BY seq"
    async with reader.execute(query, (run.run, picture.seq)) as rows:
        async for row in rows:
            if row[0] > last_seq or row[4] > at_ns + SKEW_NS:
                break
            if row[4] <= at_ns:
                picture.apply(stamped_of(row[1:]), row[0])
    if at_ns < LATEST_NS:
        picture.at_ns = at_ns
    return picture


async def buckets(
    reader: ReadConnections, run: int, from_ns: int, to_ns: int, width_ns: int = BUCKET_NS
) -> list[tuple[int, int, int, LatencyHistogram]]:
    """Rows (at_ns, ok, failed, latencies) of each bucket of this width with calls."""
    query = (
        "SELECT at_ns, ok, failed, latencies FROM buckets"
        " WHERE run = ? AND width_ns = ? AND at_ns >= ? AND at_ns < ? ORDER BY at_ns"
    )
    async with reader.execute(query, (run, width_ns, from_ns, to_ns)) as rows:
        return [(row[0], row[1], row[2], LatencyHistogram.decode(row[3])) async for row in rows]


async def failovers(reader: ReadConnections, run: int, from_ns: int, to_ns: int) -> list[dict[str, Any]]:
    query = "SELECT body FROM failovers WHERE run = ? AND at_ns >= ? AND at_ns < ? ORDER BY at_ns"
    async with reader.execute(query, (run, from_ns, to_ns)) as rows:
        return [msgspec.msgpack.decode(row[0], type=dict[str, Any]) async for row in rows]


async def newest_failovers(reader: ReadConnections, run: int, limit: int) -> list[dict[str, Any]]:
    query = "SELECT body FROM failovers WHERE run = ? ORDER BY at_ns DESC LIMIT ?"
    async with reader.execute(query, (run, limit)) as rows:
        return [msgspec.msgpack.decode(row[0], type=dict[str, Any]) async for row in rows][::-1]


async def of_groups(
    reader: ReadConnections, from_sn: int, to_sn: int, last_seq: int, servers: Sequence[str]
) -> list[tuple[int, Stamped]]:
    """Durable, Committed and Applied events of these journal groups on these servers, over all runs: a journal outlives its run."""
    where = f"sn BETWEEN ? AND ? AND seq <= ? AND server IN ({','.join('?' * len(servers))})"
    query = f"SELECT seq, {COLUMNS} FROM events WHERE {where} ORDER BY seq"
    async with reader.execute(query, (from_sn, to_sn, last_seq, *servers)) as rows:
        return [(row[0], stamped_of(row[1:])) async for row in rows]


async def cuts(reader: ReadConnections, last_seq: int, servers: Sequence[str]) -> list[tuple[int, Stamped]]:
    where = "sn IS NULL AND kind IN ('Cut', 'JournalOpened') AND seq <= ?"
    marks = ",".join("?" * len(servers))
    query = f"SELECT seq, {COLUMNS} FROM events WHERE {where} AND server IN ({marks}) ORDER BY seq"
    async with reader.execute(query, (last_seq, *servers)) as rows:
        return [(row[0], stamped_of(row[1:])) async for row in rows]


async def barriers(reader: ReadConnections, last_seq: int) -> list[tuple[int, Stamped]]:
    """The newest barriers and rollbacks, over all runs: a journal outlives its run."""
    return await newest(reader, ("BarrierWritten", "TakenBack"), last_seq, BARRIERS_MOST)


def reported(found: list[tuple[int, Stamped]], terms: Terms) -> list[dict[str, Any]]:
    return [named(stamped, seq, terms) for seq, stamped in found]


async def last_ns(reader: ReadConnections, run: RunRow) -> int:
    """Time of the run's last stored event or call."""
    newest = "SELECT at_ns FROM events WHERE seq BETWEEN ? AND ? ORDER BY seq DESC LIMIT 100"
    event = await reader.first(f"SELECT max(at_ns) FROM ({newest})", (run.first_seq, run.last_seq))
    call = await reader.first(
        "SELECT max(at_ns) FROM buckets WHERE run = ? AND width_ns = ?", (run.run, BUCKET_NS)
    )
    return max((event and event[0]) or 0, (call and call[0]) or 0, run.started_ns + 1)


async def last_picture(reader: ReadConnections) -> Picture:
    """The picture at the end of the newest run; empty when there is none."""
    found = await runs(reader, 0, 0)
    return await picture_at(reader, found[0], LATEST_NS) if found else Picture()
