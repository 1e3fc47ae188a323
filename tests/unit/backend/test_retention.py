"""The event store stays bounded: calls are summed up, pictures thinned, frequent events counted, old runs removed."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from backend.checkpoints import story as checkpoint_story
from backend.errors import Malformed
from backend.events import timeline
from backend.picture import Picture
from backend.pool import volume
from backend.store import queries, retention, write_queue
from backend.store import store as store_module
from backend.store.buckets import Buckets
from backend.store.encoding import FREQUENT
from backend.store.store import EventStore
from backend.store.tiers import CALLS, DAY_NS, HOUR_NS, SECOND_NS, tier_of
from nodes.trace import events as e
from tests.unit.backend.story import MS, Story, called, durable


@asynccontextmanager
async def opened(path: Path, **options: Any) -> AsyncIterator[EventStore]:
    store = await EventStore.open(path / "events.db", **options)
    try:
        await store.begin_run("mams", 0)
        yield store
    finally:
        await store.close()


async def count(store: EventStore, table: str, where: str = "1") -> int:
    [found] = await store.reader.first(f"SELECT count(*) FROM {table} WHERE {where}")
    return int(found)


async def live(store: EventStore, hours: float, every_s: int = 1) -> int:
    """A run of some hours with a call every `every_s`, a picture a minute, and an event by which time goes on; returns the number of calls."""
    buckets, story, calls = Buckets(), Story(), 0
    for minute in range(round(hours * 60)):
        begin_ms = minute * 60_000
        for second in range(0, 60, every_s):
            buckets.add(called(calls, begin_ms + second * 1000 + 1))
            calls += 1
        store.keep_buckets(buckets.changed())
        numbered = store.append([story(begin_ms + 59_999, "mds1", e.Warned("x"))])
        store.keep_picture(Picture(at_ns=begin_ms * MS, seq=numbered[-1][0]))
        if minute % 10 == 9:
            await store.flush()
    await store.flush()
    return calls


def test_calls_of_two_days_are_summed_up_and_none_is_lost(tmp_path: Path) -> None:
    async def body() -> None:
        async with opened(tmp_path) as store:
            calls = await live(store, 48, 2)
            rows = await count(store, "buckets")
            bound = sum(kept_ns // width_ns for width_ns, kept_ns in CALLS if kept_ns) + 1_000
            assert rows < bound
            for width_ns, kept_ns in CALLS:
                tier = await count(store, "buckets", f"width_ns = {width_ns}")
                assert 0 < tier <= (kept_ns or 48 * HOUR_NS) // width_ns + 2 * 60
            run = await queries.run_named(store.reader, 1, 1, store.seq)
            end = 2 * DAY_NS
            whole = await timeline.timeline(store.reader, run, {}, 0, end, end, 600)
            assert sum(whole["ok"]) == calls and len(whole["ok"]) <= 600
            recent = await timeline.timeline(store.reader, run, {}, end - 60 * SECOND_NS, end, end, 600)
            assert recent["bucket_ns"] == SECOND_NS // 10 and sum(recent["ok"]) == 30
            earlier = await timeline.timeline(
                store.reader, run, {}, DAY_NS, DAY_NS + 60 * SECOND_NS, end, 600
            )
            assert earlier["bucket_ns"] == 10 * SECOND_NS and sum(earlier["ok"]) == 30
            assert await count(store, "pictures") < 60 + 24 * 60 + 24 * 6 + 10

    asyncio.run(body())


def test_a_question_reads_a_bounded_number_of_rows() -> None:
    week = 7 * DAY_NS
    assert tier_of(0, week, week, week).width_ns == 300 * SECOND_NS
    assert tier_of(week - HOUR_NS, week, week, 6 * SECOND_NS).width_ns == SECOND_NS
    assert tier_of(week - HOUR_NS, week, week, 1).width_ns == SECOND_NS // 10
    assert tier_of(week - 5 * HOUR_NS, week, week, 1).width_ns == SECOND_NS
    with pytest.raises(Malformed, match="at most 138 days"):
        tier_of(0, 200 * DAY_NS, 200 * DAY_NS, DAY_NS)


def test_every_frequent_event_is_pruned_by_number_and_no_other(tmp_path: Path) -> None:
    async def body() -> None:
        story = Story()
        async with opened(tmp_path, kept_events=100) as store:
            store.append([story(0, "coordination", e.LockHeld("g1", "mds1"))])
            for _ in range(5):
                shared = [story(1, "mds1", e.SharedStep("g1", 1, 1, "begin", True, [2])) for _ in range(50)]
                failed = [story(1, "client1", called(1, 5, error="ETIMEDOUT")) for _ in range(50)]
                store.append(shared + failed)
                await store.flush()
            assert await count(store, "events") <= 201
            assert len(await queries.rare(store.reader, 1, ("LockHeld",))) == 1
            assert len(await queries.events(store.reader, 1, 0, 1 << 60, 9_999, ("SharedStep",), ())) >= 50
            assert len(await queries.events(store.reader, 1, 0, 1 << 60, 9_999, ("LockHeld",), ())) == 1

    asyncio.run(body())


def test_no_frequent_event_is_asked_for_among_the_rare_ones() -> None:
    frequent = {kind.__name__ for kind in FREQUENT}
    assert not frequent.intersection(
        (*checkpoint_story.KINDS, *volume.KINDS, *retention.STATES, *timeline.KINDS)
    )


def test_the_past_of_a_run_ends_where_it_is_told_but_states_stay(tmp_path: Path) -> None:
    async def body() -> None:
        story = Story()
        async with opened(tmp_path, kept_s=6 * 3_600) as store:
            store.append([story(0, "coordination", e.Placed("g1", "mds1", "active", 1, 0))])
            await live(store, 24, 30)
            oldest = {
                table: await store.reader.first(f"SELECT min(at_ns) FROM {table}")
                for table in ("pictures", "buckets")
            }
            for [at_ns] in oldest.values():
                assert 17 * HOUR_NS < at_ns <= 18 * HOUR_NS
            assert await count(store, "events", "kind = 'Warned'") <= 7 * 60
            assert await count(store, "events", "kind = 'Placed'") == 1

    asyncio.run(body())


def test_runs_that_ended_too_long_ago_are_removed(tmp_path: Path) -> None:
    async def body() -> None:
        for _ in range(3):
            async with opened(tmp_path) as store:
                store.append([Story()(1, "mds1", durable(1))])
        old = (datetime.now(UTC) - timedelta(days=3)).isoformat(timespec="milliseconds")
        with sqlite3.connect(tmp_path / "events.db") as database:
            database.execute("UPDATE runs SET ended_at = ? WHERE run <= 2", (old,))
        async with opened(tmp_path, kept_s=86_400) as store:
            assert [row.run for row in await queries.runs(store.reader, 4, store.seq)] == [4, 3]
            assert await count(store, "events", "run <= 2") == 0

    asyncio.run(body())


def test_a_full_disk_keeps_a_bounded_number_of_events_and_says_how_many_were_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_queue, "ROWS_MOST", 1_000)

    async def body() -> None:
        said: list[str] = []
        story = Story()
        async with opened(tmp_path, on_trouble=said.append) as store:
            [[pages]] = await store._writer.execute_fetchall("PRAGMA page_count")
            await store._writer.execute(f"PRAGMA max_page_count = {pages}")
            for _ in range(50):
                store.append([story(1, "mds1", durable(n)) for n in range(100)])
                await store.flush()
                assert len(store._pending.rows) <= 1_000
            assert len(said) == 1 and "disk is full" in said[0]
            await store._writer.execute("PRAGMA max_page_count = 1000000")
            await store.flush()
            kept = await queries.events(store.reader, 1, 0, 1 << 60, 9_999, (), ())
            assert kept[-1][1].number == 5_000 and 900 <= len(kept) <= 1_000
            assert f"{5_000 - len(kept)} events were left out" in said[1] and store.trouble == ""

    asyncio.run(body())


@pytest.mark.parametrize("step", ["prune", "thin"])
def test_an_error_while_old_rows_are_removed_is_reported_and_writing_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    async def locked(*_: Any) -> None:
        raise sqlite3.OperationalError("database is locked")

    monkeypatch.setattr(store_module, step, locked)

    async def body() -> None:
        said: list[str] = []
        story = Story()
        async with opened(tmp_path, kept_events=10, on_trouble=said.append) as store:
            store.append([story(1e6 * n, "mds1", durable(n)) for n in range(1, 31)])
            while not said:
                await asyncio.sleep(0.01)
            assert "database is locked" in said[0]
            monkeypatch.undo()
            store.append([story(1e6 * n, "mds1", durable(n)) for n in range(31, 41)])
            while store.trouble or store._pending:
                await asyncio.sleep(0.01)
            assert await count(store, "events") >= 10

    asyncio.run(asyncio.wait_for(body(), 30))


def test_a_writer_that_dies_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any) -> None:
        raise RuntimeError("a bug")

    async def body() -> None:
        said: list[str] = []
        async with opened(tmp_path, on_trouble=said.append) as store:
            monkeypatch.setattr(store, "_write_all", broken)
            store.append([Story()(1, "mds1", durable(1))])
            while not said:
                await asyncio.sleep(0.01)
            assert said == [store.trouble] and "RuntimeError: a bug" in said[0]
            monkeypatch.undo()

    asyncio.run(asyncio.wait_for(body(), 30))


def test_tenths_of_the_fourth_format_are_summed_up(tmp_path: Path) -> None:
    async def body() -> None:
        async with opened(tmp_path):
            pass
        buckets = Buckets()
        for n in range(200):
            buckets.add(called(n, 1 + 50 * n))
        tenths = [each for each in buckets.changed() if each.width_ns == CALLS[0].width_ns]
        with sqlite3.connect(tmp_path / "events.db") as database:
            database.execute("DROP TABLE buckets")
            database.execute(
                "CREATE TABLE buckets (run INTEGER NOT NULL, at_ns INTEGER NOT NULL, ok INTEGER NOT NULL, failed"
                " INTEGER NOT NULL, latencies BLOB NOT NULL, PRIMARY KEY (run, at_ns))"
            )
            database.executemany(
                "INSERT INTO buckets VALUES (1,?,?,?,?)",
                [(each.at_ns, each.ok, each.failed, each.latencies.encode()) for each in tenths],
            )
            database.execute("ALTER TABLE events DROP COLUMN carrier")
            database.execute("PRAGMA user_version = 4")
        async with opened(tmp_path) as again:
            for width_ns, _ in CALLS:
                found = await queries.buckets(again.reader, 1, 0, 1 << 60, width_ns)
                assert sum(ok for _, ok, _, _ in found) == 200
                assert len(found) == -(-(10 * SECOND_NS) // width_ns)

    asyncio.run(body())


def test_an_age_is_hours_days_or_weeks() -> None:
    assert [retention.seconds_of(text) for text in ("12h", "7d", "2w")] == [43_200, 604_800, 1_209_600]
    for wrong in ("", "7", "0d", "1.5d", "-1d", "7 d", "99999d"):
        with pytest.raises(ValueError, match="is not an age; write it like 12h, 7d or 4w"):
            retention.seconds_of(wrong)


def test_a_removed_run_gives_its_room_back_while_another_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "AT_ONCE", 100)

    async def free_pages(store: EventStore) -> int:
        [found] = await store.reader.first("PRAGMA freelist_count")
        return int(found)

    async def body() -> None:
        story = Story()
        async with opened(tmp_path) as store:
            store.append([story(n, "mds1", e.Warned("x" * 200)) for n in range(2_000)])
        async with opened(tmp_path) as store:
            pages = await store.reader.first("PRAGMA page_count")
            removal = asyncio.create_task(store.remove(1))
            while not removal.done():
                store.append([story(9_000, "mds1", e.Warned("y"))])
                await store.flush()
            await removal
            await store.flush()
            assert await count(store, "events", "run = 1") == await count(store, "runs", "run = 1") == 0
            assert await count(store, "events", "run = 2") == store.seq - 2_000 > 10
            assert await free_pages(store) == 0
            assert await store.reader.first("PRAGMA page_count") < pages

    asyncio.run(body())
