"""What the event store removes, and when: it stays bounded however long a run lasts."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import aiosqlite

from backend.store.tiers import CALLS, PICTURES, SECOND_NS

KEPT_EVENTS = 2_000_000
"""Number of frequent events (encoding.FREQUENT) kept over all runs, the newest."""
KEPT_RUNS = 20
KEPT_S = 7 * 86_400
"""Age in seconds beyond which runs, and the past of a run that still lasts, are removed."""
AT_ONCE = 20_000
"""Rows that one statement removes, so that writes never wait long."""
STATES = (
    "Placed",
    "Configured",
    "FaultInjected",
    "FaultEnded",
    "BarrierWritten",
    "TakenBack",
    "Cut",
    "JournalOpened",
)
"""Events from which the state at a later moment follows; they stay as long as their run."""
TABLES = ("pictures", "buckets", "failovers", "runs")
FREE_PAGES = 2_000
"""Pages that are given back to the file system at once."""


AGE = re.compile(r"^(\d{1,4})(h|d|w)$")
AGE_S = {"h": 3_600, "d": 86_400, "w": 7 * 86_400}


def seconds_of(text: str) -> int:
    """The age of `12h`, `7d` or `4w`. Raises ValueError with the accepted forms."""
    found = AGE.match(text)
    if found is None or not int(found[1]):
        raise ValueError(f"{text[:40]!r} is not an age; write it like 12h, 7d or 4w")
    return int(found[1]) * AGE_S[found[2]]


async def prune(writer: aiosqlite.Connection, kept_events: int) -> None:
    """Removes the oldest frequent events beyond the bound."""
    count = await (await writer.execute("SELECT count(*) FROM events WHERE sn IS NOT NULL")).fetchone()
    excess = (count[0] if count else 0) - kept_events
    while excess > 0:
        await writer.execute(
            "DELETE FROM events WHERE seq IN"
            " (SELECT seq FROM events WHERE sn IS NOT NULL ORDER BY seq LIMIT ?)",
            (min(excess, AT_ONCE),),
        )
        excess -= AT_ONCE


async def thin(writer: aiosqlite.Connection, run: int, last_ns: int, kept_s: int) -> None:
    """Removes from the run what is finer, or older, than is kept. `last_ns` is its newest time."""
    for width_ns, kept_ns in CALLS:
        if kept_ns:
            await writer.execute(
                "DELETE FROM buckets WHERE run = ? AND width_ns = ? AND at_ns < ?",
                (run, width_ns, last_ns - kept_ns),
            )
    for width_ns, kept_ns in PICTURES:
        await writer.execute(
            "DELETE FROM pictures WHERE run = ?1 AND at_ns < ?2 AND seq NOT IN"
            " (SELECT min(seq) FROM pictures WHERE run = ?1 AND at_ns < ?2 GROUP BY at_ns / ?3)",
            (run, last_ns - kept_ns, width_ns),
        )
    await forget_before(writer, run, last_ns - kept_s * SECOND_NS)


async def give_back(writer: aiosqlite.Connection) -> None:
    """Gives free pages back to the file system; not within a transaction."""
    # As a script: `execute` takes one step of a statement without columns, which gives back a single page.
    await writer.executescript(f"PRAGMA incremental_vacuum({FREE_PAGES})")


async def forget_before(writer: aiosqlite.Connection, run: int, at_ns: int) -> None:
    """Removes the run's past before this time. The last picture before it stays: later moments begin from it."""
    query = "SELECT max(seq) FROM pictures WHERE run = ? AND at_ns < ?"
    row = await (await writer.execute(query, (run, at_ns))).fetchone()
    if row is None or row[0] is None:
        return
    marks = ",".join("?" * len(STATES))
    await writer.execute(
        "DELETE FROM events WHERE seq IN (SELECT seq FROM events"
        f" WHERE seq <= ? AND run = ? AND kind NOT IN ({marks}) ORDER BY seq LIMIT ?)",
        (row[0], run, *STATES, AT_ONCE),
    )
    await writer.execute("DELETE FROM pictures WHERE run = ? AND seq < ?", (run, row[0]))
    for table in ("buckets", "failovers"):
        await writer.execute(f"DELETE FROM {table} WHERE run = ? AND at_ns < ?", (run, at_ns))


async def forget_runs(writer: aiosqlite.Connection, live: int, kept_s: int) -> None:
    """Removes runs that ended too long ago, and the oldest of too many; the clock of the wall says when they ended."""
    before = (datetime.now(UTC) - timedelta(seconds=kept_s)).isoformat(timespec="milliseconds")
    query = "SELECT run FROM runs WHERE run != ? AND (run <= ? OR coalesce(ended_at, seen_at) < ?)"
    gone = await (await writer.execute(query, (live, live - KEPT_RUNS, before))).fetchall()
    for (run,) in gone:
        while await forget_part(writer, run):
            pass


async def forget_part(writer: aiosqlite.Connection, run: int) -> bool:
    """Removes the next rows of a past run, that of the run itself last. False when that is gone."""
    removed = await writer.execute(
        "DELETE FROM events WHERE seq IN (SELECT events.seq FROM runs, events WHERE runs.run = ?"
        " AND events.run = runs.run AND seq BETWEEN first_seq AND last_seq LIMIT ?)",
        (run, AT_ONCE),
    )
    if removed.rowcount:
        return True
    for table in TABLES:
        await writer.execute(f"DELETE FROM {table} WHERE run = ?", (run,))
    return False
