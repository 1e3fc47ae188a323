import asyncio
import sqlite3
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from backend.errors import ClusterCannotStart, NotThere
from backend.picture import NodeState, Picture, ServerState
from backend.store import queries
from backend.store import store as store_module
from backend.store.buckets import BUCKET_NS, Buckets
from backend.store.latencies import LatencyHistogram
from backend.store.readers import READERS
from backend.store.schema import FENCED_IN_FORMAT_2, picture_of_format_3, picture_of_format_4
from backend.store.store import EventStore
from nodes.config import one_group
from nodes.trace import events as e
from tests.unit.backend.story import MS, Story, called, committed, durable


async def opened(path: Path, **options: Any) -> EventStore:
    store = await EventStore.open(path / "events.db", **options)
    await store.begin_run("mams", 1)
    return store


def test_events_come_back_in_order_after_reopening(tmp_path: Path) -> None:
    async def body() -> None:
        story, store = Story(), await opened(tmp_path)
        reported = [story(n, "mds1", durable(n)) for n in range(1, 11)]
        assert [seq for seq, _ in store.append(reported)] == list(range(1, 11))
        await store.close()
        again = await opened(tmp_path)
        found = await queries.events(again.reader, 1, 3, 9, 100, (), ())
        assert found == [(n, reported[n - 1]) for n in range(4, 9)]
        assert (again.run, again.seq, again.positions) == (2, 10, {"mds1": 10})
        assert again.append([story(20, "mds1", durable(11))])[0][0] == 11
        await again.close()

    asyncio.run(body())


def test_a_batch_is_in_the_database_within_fifty_milliseconds_or_little_more(tmp_path: Path) -> None:
    async def body() -> float:
        store = await opened(tmp_path)
        store.append([Story()(1, "mds1", durable(1))])
        began = time.monotonic()
        while not await queries.events(store.reader, 1, 0, 10, 10, (), ()):
            assert time.monotonic() - began < 5
            await asyncio.sleep(0.002)
        took = time.monotonic() - began
        await store.close()
        return took

    assert store_module.BATCH_S <= 0.05
    assert asyncio.run(body()) < 1.0


def test_a_killed_run_ends_when_it_was_last_seen(tmp_path: Path) -> None:
    async def body() -> None:
        store = await opened(tmp_path)
        store.append([Story()(1, "mds1", durable(1))])
        await store.flush()
        again = await opened(tmp_path)
        first, second = reversed(await queries.runs(again.reader, again.run, again.seq))
        assert first.ended_at is not None and not first.live
        assert second.live and second.first_seq == 2
        with pytest.raises(NotThere, match="no run 9"):
            await queries.run_named(again.reader, 9, again.run, again.seq)
        for each in (again, store):
            await each.close()

    asyncio.run(body())


def test_good_calls_are_kept_as_buckets_and_failed_ones_as_events_too(tmp_path: Path) -> None:
    async def body() -> None:
        store, buckets, story = await opened(tmp_path), Buckets(), Story()
        calls = [called(n, 100 + n) for n in range(50)] + [
            called(50, 310, error="EAGAIN_NOT_ACTIVE"),
            called(51, 320, error="EEXIST"),
        ]
        numbered = store.append([story(call.returned_ns / MS, "client1", call) for call in calls])
        assert [stamped.event.error for _, stamped in numbered] == ["EAGAIN_NOT_ACTIVE", "EEXIST"]
        for call in calls:
            buckets.add(call)
        store.keep_buckets(buckets.changed())
        await store.flush()
        found = await queries.buckets(store.reader, 1, 0, 1 << 60)
        assert [(at // BUCKET_NS, ok, failed) for at, ok, failed, _ in found] == [(1, 50, 0), (3, 1, 1)]
        assert found[0][3].quantile_ms(0.5) == pytest.approx(2, rel=0.05)
        assert store.positions == (await opened(tmp_path)).positions == {"client1": 52}
        await store.close()

    asyncio.run(body())


def test_only_old_journal_events_are_pruned(tmp_path: Path) -> None:
    async def body() -> None:
        store, story = await opened(tmp_path, kept_events=100), Story()
        store.append([story(0, "coordination", e.LockHeld("g1", "mds1"))])
        for start in range(0, 1000, 100):
            store.append([story(n, "mds1", durable(n)) for n in range(start + 1, start + 101)])
            await store.flush()
        found = await queries.events(store.reader, 1, 0, 1 << 60, 5000, (), ())
        kinds = [type(stamped.event).__name__ for _, stamped in found]
        assert kinds.count("LockHeld") == 1 and kinds.count("Durable") <= 200
        assert found[-1][1].event.sn == 1000
        await store.close()

    asyncio.run(body())


def test_picture_of_a_past_moment_is_that_of_replaying_all_events(tmp_path: Path) -> None:
    async def body() -> None:
        store, story = await opened(tmp_path), Story()
        live = Picture.of(one_group(), {}, ["client1"])
        store.keep_picture(live)
        reported = [
            story(1, "mds1", e.Started(5, "a:1", 0)),
            story(2, "coordination", e.Placed("g1", "mds1", "active", 1, 0)),
        ]
        for n in range(1, 40):
            reported += [
                story(10 * n, "mds1", durable(n)),
                story(10 * n + 1, "mds1", committed(n)),
                story(10 * n + 2, "mds2", durable(n)),
            ]
        reported.append(story(200.5, "control", e.FaultInjected(1, "crash", ["mds1"], {})))
        reported.sort(key=lambda stamped: stamped.at_ns)
        at_200: Picture | None = None
        for seq, stamped in store.append(reported):
            if stamped.at_ns > 200 * MS and at_200 is None:
                at_200 = Picture(**{f: getattr(live, f) for f in live.__struct_fields__})
                expected = (live.servers["mds1"].sn, live.servers["mds2"].sn, live.servers["mds1"].process)
            live.apply(stamped, seq)
            if seq == 50:
                store.keep_picture(live)
        await store.flush()
        run = await queries.run_named(store.reader, 1, 1, store.seq)
        found = await queries.picture_at(store.reader, run, 200 * MS)
        assert (
            (found.servers["mds1"].sn, found.servers["mds2"].sn, found.servers["mds1"].process)
            == expected
            == (20, 19, "running")
        )
        last = await queries.picture_at(store.reader, run, queries.LATEST_NS)
        assert last == live and last.servers["mds1"].process == "stopped"
        for last_seq in (20, 50, 60):
            after = await queries.picture_at(store.reader, run, queries.LATEST_NS, last_seq)
            assert after.seq == last_seq
        await store.close()

    asyncio.run(body())


def test_another_format_is_refused_with_both_numbers_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE x (y)")
        database.execute("PRAGMA user_version = 8")
    before = path.read_bytes()
    with pytest.raises(ClusterCannotStart, match=r"format 8; this version reads format 6.*a new --data"):
        asyncio.run(EventStore.open(path))
    assert path.read_bytes() == before


def test_a_database_of_the_first_format_is_read_on_and_learns_causes(tmp_path: Path) -> None:
    async def body() -> None:
        path, story = tmp_path / "events.db", Story()
        store = await opened(tmp_path)
        store.append([story(1, "mds1", durable(1))])
        await store.close()
        with sqlite3.connect(path) as database:
            database.execute("ALTER TABLE events DROP COLUMN carrier")
            database.execute("ALTER TABLE events DROP COLUMN cause_server")
            database.execute("PRAGMA user_version = 1")
        again = await opened(tmp_path)
        later = msgspec.structs.replace(story(2, "mds2", durable(2)), cause=1, cause_server="mds1")
        again.append([later])
        await again.flush()
        found = await queries.events(again.reader, 1, 0, 1 << 60, 10, (), ())
        found += await queries.events(again.reader, 2, 0, 1 << 60, 10, (), ())
        assert [(each.cause_server, each.cause) for _, each in found] == [("", 0), ("mds1", 1)]
        await again.close()

    asyncio.run(body())


def test_a_database_of_the_fifth_format_is_read_on_and_learns_carriers(tmp_path: Path) -> None:
    async def body() -> None:
        path, story = tmp_path / "events.db", Story()
        store = await opened(tmp_path)
        store.append([story(1, "mds1", durable(1))])
        await store.close()
        with sqlite3.connect(path) as database:
            database.execute("ALTER TABLE events DROP COLUMN carrier")
            database.execute("PRAGMA user_version = 5")
        again = await opened(tmp_path)
        again.append([msgspec.structs.replace(story(2, "mds2", durable(2)), carrier="Prepare")])
        await again.flush()
        found = await queries.events(again.reader, 1, 0, 1 << 60, 10, (), ())
        found += await queries.events(again.reader, 2, 0, 1 << 60, 10, (), ())
        assert [each.carrier for _, each in found] == ["", "Prepare"]
        await again.close()

    asyncio.run(body())


def test_in_a_database_of_the_second_format_a_warning_said_that_a_server_is_fenced(tmp_path: Path) -> None:
    async def body() -> None:
        store = await opened(tmp_path)
        servers = {
            "mds1": ServerState("mds1", "g1"),
            "mds2": ServerState("mds2", "g1", warning="a full disk"),
        }
        store.keep_picture(Picture(at_ns=1, seq=1, servers=servers))
        await store.close()
        path = tmp_path / "events.db"
        with sqlite3.connect(path) as database:
            [[body]] = database.execute("SELECT body FROM pictures")
            older = msgspec.msgpack.decode(body)
            for server in older["servers"].values():
                del server["fenced"]
            older["servers"]["mds1"]["warning"] = FENCED_IN_FORMAT_2
            database.execute("UPDATE pictures SET body = ?", (msgspec.msgpack.encode(older),))
            database.execute("ALTER TABLE events DROP COLUMN carrier")
            database.execute("PRAGMA user_version = 2")
        again = await opened(tmp_path)
        [run] = [row for row in await queries.runs(again.reader, again.run, again.seq) if row.run == 1]
        kept = (await queries.picture_at(again.reader, run, 1)).servers
        assert [(each.fenced, each.warning) for each in kept.values()] == [(True, ""), (False, "a full disk")]
        await again.close()

    asyncio.run(body())


def test_a_damaged_file_gets_one_line(tmp_path: Path) -> None:
    (tmp_path / "events.db").write_bytes(b"not a database at all" * 300)
    with pytest.raises(ClusterCannotStart, match="cannot read"):
        asyncio.run(EventStore.open(tmp_path / "events.db"))


def test_latencies_add_up_and_hold_five_per_cent() -> None:
    one, other = LatencyHistogram(), LatencyHistogram()
    for ms in range(1, 501):
        one.add(ms * MS)
        other.add((ms + 500) * MS)
    one.merge(LatencyHistogram.decode(other.encode()))
    assert one.quantile_ms(0.5) == pytest.approx(500, rel=0.05)
    assert one.quantile_ms(0.99) == pytest.approx(990, rel=0.05)
    assert LatencyHistogram().quantile_ms(0.5) is None


def test_what_finds_no_room_waits_and_is_written_later(tmp_path: Path) -> None:
    async def body() -> None:
        said: list[str] = []
        story, store = Story(), await opened(tmp_path, on_trouble=said.append)
        pages = await (await store._writer.execute("PRAGMA page_count")).fetchone()
        assert pages is not None
        await store._writer.execute(f"PRAGMA max_page_count = {pages[0]}")
        reported = [story(n, "mds1", durable(n)) for n in range(1, 2_001)]
        store.append(reported[:1_000])
        await store.flush()
        store.append(reported[1_000:])
        await store.flush()
        assert said == [store.trouble] and "database or disk is full" in store.trouble
        assert await queries.events(store.reader, 1, 0, 9_999, 9_999, (), ()) == []
        await store._writer.execute("PRAGMA max_page_count = 1000000")
        await store.flush()
        found = await queries.events(store.reader, 1, 0, 9_999, 9_999, (), ())
        assert [stamped.number for _, stamped in found] == list(range(1, 2_001)) and store.trouble == ""
        await store.close()

    asyncio.run(body())


def test_data_nodes_of_the_second_format_are_read_in_the_words_of_the_third() -> None:
    picture = picture_of_format_3({"servers": {}, "data_nodes": {"dn1": {"octets": 7}}})
    assert picture == {"servers": {}, "data_nodes": {"dn1": {"size": 7}}}


def test_nodes_of_the_third_format_are_in_one_table_of_the_fourth() -> None:
    node = {"name": "jn1", "process": "running", "sn": 4, "epoch": 2}
    picture = picture_of_format_4({"servers": {}, "data_nodes": {}, "journal_nodes": {"jn1": node}})
    assert msgspec.convert(picture, Picture).nodes["jn1"] == NodeState(
        "jn1", "journal_node", {"sn": 4, "epoch": 2}, "running"
    )


def test_a_long_question_does_not_hold_up_the_next_ones(tmp_path: Path) -> None:
    """With one connection the second question waits for the first to end."""
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 1 FROM n WHERE i < 0"

    async def body() -> None:
        store = await opened(tmp_path)
        store.append([Story()(1, "mds1", durable(1))])
        await store.flush()
        scans = [asyncio.create_task(store.reader.first(endless)) for _ in range(READERS - 1)]
        await asyncio.sleep(0)
        for _ in range(3):
            assert len(await queries.events(store.reader, 1, 0, 10, 10, (), ())) == 1
        assert not any(scan.done() for scan in scans)
        while not all(scan.done() for scan in scans):
            await store.reader.interrupt()
            await asyncio.sleep(0.01)
        assert all(isinstance(scan.exception(), sqlite3.Error) for scan in scans)
        await store.close()

    asyncio.run(body())
