"""The page opened on an event store with the rows of a week."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import time
from pathlib import Path

import httpx
import msgspec

from backend.app import create_app
from backend.fleet.fleet import Fleet
from backend.key import authorization, key_in
from backend.lab import Lab
from backend.picture import Picture
from backend.settings import Settings
from backend.store.encoding import row_of
from backend.store.latencies import LatencyHistogram
from backend.store.retention import KEPT_EVENTS
from backend.store.store import INSERT
from backend.store.tiers import CALLS, DAY_NS, PICTURES, SECOND_NS
from nodes.real.clock import monotonic_ns
from nodes.trace.events import Durable, FaultInjected, Placed, Stamped

WEEK_NS = 7 * DAY_NS
PLACED = 2_000
"""Changes of role in the week."""
FAILOVERS = 500
QUESTIONS = ("/api/cluster", "/api/runs", "/api/runs/1/failovers", "/api/runs/1/timeline?buckets=600")
"""What a page asks for when it opens on the whole run; the stream begins with the picture in memory."""
FAILOVER = {
    "group": "g1", "fault_ns": 0, "detection_ms": 1.0, "election_ms": 1.0, "switch_ms": 1.0, "reconnect_ms": 1.0,
    "total_ms": 4.0, "old": "mds1", "new": "mds2", "epoch": 2,
}  # fmt: skip


def fill(path: Path, now_ns: int, events: int) -> int:
    """Puts the rows of a week into a database, as many as are kept of each kind; returns their number."""
    latencies = LatencyHistogram({100: 5}).encode()
    begin_ns = now_ns - WEEK_NS
    buckets = [
        (1, width_ns, at_ns - at_ns % width_ns, 5, 0, latencies)
        for width_ns, kept_ns in CALLS
        for at_ns in range(now_ns - (kept_ns or WEEK_NS), now_ns, width_ns)
    ]
    picture = msgspec.msgpack.encode(Picture())
    spans = [
        (begin_ns, now_ns - DAY_NS, PICTURES[1].width_ns),
        (now_ns - DAY_NS, now_ns, PICTURES[0].width_ns),
    ]
    times = [at_ns for start, end, step in spans for at_ns in range(start, end, step)]
    pictures = [(1, place, at_ns, picture) for place, at_ns in enumerate(times)]
    placed = [
        Stamped(
            "coordination", 1, n, begin_ns + n * WEEK_NS // PLACED, 0, Placed("g1", "mds1", "active", n, 0)
        )
        for n in range(1, PLACED)
    ]
    placed += [
        Stamped("control", 1, n, begin_ns + n * SECOND_NS, 0, FaultInjected(n, "crash", ["mds1"], {}))
        for n in range(1, PLACED)
    ]
    journal = (
        Stamped("mds1", 1, n, now_ns - (events - n) * 2_000_000, 0, Durable(n, 1, n, n, 1, 100))
        for n in range(1, events)
    )
    failovers = [(1, begin_ns + n * SECOND_NS, msgspec.msgpack.encode(FAILOVER)) for n in range(FAILOVERS)]
    with sqlite3.connect(path) as database:
        database.executemany("INSERT OR REPLACE INTO buckets VALUES (?,?,?,?,?,?)", buckets)
        database.executemany("INSERT OR REPLACE INTO pictures VALUES (?,?,?,?)", pictures)
        database.executemany("INSERT OR REPLACE INTO failovers VALUES (?,?,?)", failovers)
        database.executemany(INSERT, (row_of(each, seq, 1) for seq, each in enumerate(placed, 1)))
        first = len(placed) + 1
        database.executemany(INSERT, (row_of(each, seq, 1) for seq, each in enumerate(journal, first)))
        database.execute("UPDATE runs SET started_ns = ?, ended_at = NULL WHERE run = 1", (begin_ns,))
    database.close()
    return len(buckets) + len(pictures) + len(failovers) + len(placed) + events


async def opened(events: int = KEPT_EVENTS) -> dict[str, float]:
    """Seconds until every question of an opening page has its answer."""
    with tempfile.TemporaryDirectory(prefix="cloverlab-week-", dir=os.environ.get("TMPDIR")) as directory:
        lab = await Lab.open(Settings(Path(directory)))
        rows = fill(lab.home.path / "events.db", monotonic_ns(), events)
        transport = httpx.ASGITransport(app=create_app(Fleet(lab)))
        key = authorization(key_in(lab.home.path))
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1:8080", headers=key
        ) as client:
            began, size = time.monotonic(), 0
            for question in QUESTIONS:
                answer = await client.get(question)
                answer.raise_for_status()
                size += len(answer.content)
            took = time.monotonic() - began
        await lab.stop()
    return {"open_after_week_s": round(took, 3), "open_after_week_kb": round(size / 1e3), "week_rows": rows}
