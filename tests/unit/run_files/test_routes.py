"""Export, import and removal of runs: what comes back or goes is the run, and nothing else changes."""

from __future__ import annotations

import asyncio
import gzip
import io
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from backend import remote_requests
from backend.cli import entry
from backend.errors import Impossible, NotThere
from backend.gate import RUN_BYTES
from backend.lab import Lab
from backend.run_files import service
from backend.run_files.records import RunHeader
from backend.run_files.writer import RunFileWriter
from backend.store.retention import KEPT_RUNS
from backend.store.store import wall
from nodes.config import JournalConfig, one_group
from nodes.trace import events as e
from tests.unit.backend.story import Story, called, committed, durable
from tests.unit.backend.test_api import ONE_GROUP, api, one_line

Body = Callable[[httpx.AsyncClient, Lab], Awaitable[None]]
NAMED = re.compile(r'attachment; filename="clover-[0-9a-f]+-run-1\.cloverrun"')
QUESTIONS = (
    "events", "events?kinds=Durable&servers=mds1", "picture", "picture?at_ns=40000000", "timeline", "failovers",
    "journal?from_sn=1&to_sn=20", "pool",
)  # fmt: skip


def with_runs(tmp_path: Path, *bodies: Body) -> None:
    """Each body has a further run of one cluster."""

    async def run() -> None:
        for number, body in enumerate(bodies):
            (tmp_path / str(number)).mkdir()
            (tmp_path / str(number) / "data").symlink_to(tmp_path / "data")
            (tmp_path / "data").mkdir(exist_ok=True, mode=0o700)
            async with api(tmp_path / str(number), ONE_GROUP) as (client, lab):
                await body(client, lab)

    asyncio.run(run())


async def live(client: httpx.AsyncClient, lab: Lab) -> None:
    """A run with a little of everything that a file holds."""
    story = Story()
    lab.store.keep_picture(lab.fabric.picture)
    began = lab.fabric.now_ns // 1_000_000
    for n in range(1, 21):
        lab._on_events([story(began + n, "mds1", durable(n)), story(began + n, "mds1", committed(n))])
        lab._on_events([story(began + n, "client", called(n, began + n, error="" if n % 5 else "ETIMEDOUT"))])
    lab._on_events([story(began + 30, "faults", e.FaultInjected(1, "crash", ["mds1"], {}))])
    await lab.store.flush()


async def answers(client: httpx.AsyncClient, run: int) -> dict[str, Any]:
    found = {}
    for question in QUESTIONS:
        answer = await client.get(f"/api/runs/{run}/{question}")
        assert answer.status_code == 200, answer.text
        found[question] = answer.json()
    return found


async def exported(client: httpx.AsyncClient, run: int) -> bytes:
    answer = await client.get(f"/api/runs/{run}/export")
    assert answer.status_code == 200
    assert NAMED.fullmatch(answer.headers["content-disposition"])
    return answer.content


def test_a_past_run_comes_back_as_it_was_and_outlives_a_restart(tmp_path: Path) -> None:
    kept: dict[str, Any] = {}

    async def second(client: httpx.AsyncClient, lab: Lab) -> None:
        before = await client.get("/api/runs"), await answers(client, 1)
        answer = await client.post("/api/runs/import", content=await exported(client, 1))
        assert answer.status_code == 200, answer.text
        kept.update(answer.json())
        assert (kept["run"], kept["live"], kept["origin"]) == (
            3,
            False,
            f"run 1 of {lab.home.file.cluster.cluster}",
        )
        assert await answers(client, 3) == before[1] == await answers(client, 1)
        listed = (await client.get("/api/runs")).json()
        assert listed == [kept, *before[0].json()]
        assert lab.store.run == 2 and await exported(client, 3)

    async def third(client: httpx.AsyncClient, lab: Lab) -> None:
        assert [row["run"] for row in (await client.get("/api/runs")).json()] == [4, 3, 2, 1]
        assert (await client.get("/api/runs")).json()[1] == kept
        assert await answers(client, 3) == await answers(client, 1)
        assert (await client.get("/api/runs/4/events")).json()["left_out"] == 0

    with_runs(tmp_path, live, second, third)


def test_the_present_run_can_be_exported_and_goes_on(tmp_path: Path) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        await live(client, lab)
        data = await exported(client, 1)
        lab._on_events([Story()(99, "mds2", durable(21))])
        row = (await client.post("/api/runs/import", content=data)).json()
        assert row["ended_at"] is not None and row["last_seq"] == lab.store.seq - 1
        assert len((await client.get("/api/runs/2/events")).json()["events"]) == row["last_seq"]

    with_runs(tmp_path, body)


def test_an_imported_run_adds_nothing_to_the_journals_of_the_present(tmp_path: Path) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        await live(client, lab)
        before = (await client.get("/api/runs/1/journal?from_sn=1&to_sn=20")).json()
        seq, picture = lab.store.seq, lab.fabric.picture.seq
        for _ in range(2):
            assert (await client.post("/api/runs/import", content=await exported(client, 1))).is_success
        assert (await client.get("/api/runs/1/journal?from_sn=1&to_sn=20")).json() == before
        assert (lab.store.seq, lab.fabric.picture.seq) == (seq, picture)

    with_runs(tmp_path, body)


def test_what_is_refused_leaves_nothing(tmp_path: Path) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        await live(client, lab)
        whole = await exported(client, 1)
        lines = gzip.decompress(whole).splitlines(keepends=True)
        for data, says in (
            (b"hello", "the run cannot be opened: it is no file of a run"),
            (whole[:-20], "the run cannot be opened: it is cut off behind line"),
            (gzip.compress(b"".join(lines[:-1])), "the run cannot be opened: it is cut off behind line"),
            (gzip.compress(b"".join(lines[:9] + lines[10:])), "the lines before it are not those that were"),
        ):
            answer = await client.post("/api/runs/import", content=data)
            assert answer.status_code == 422 and says in one_line(answer)
        assert [row["run"] for row in (await client.get("/api/runs")).json()] == [1]
        assert not list((lab.home.path / "imported").iterdir())
        assert "there is no run 7" in one_line(await client.get("/api/runs/7/export"))
        too_long = {"Content-Length": str(RUN_BYTES + 1)}
        assert (await client.post("/api/runs/import", headers=too_long)).status_code == 413

    with_runs(tmp_path, body)


def test_a_run_of_another_family_brings_its_kinds_of_node(tmp_path: Path) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        cluster = one_group(2, protocol="qjm", journal=JournalConfig(["jn1", "jn2", "jn3"]))
        writer = RunFileWriter()
        header = RunHeader("1.0", wall(), wall(), wall(), 5, 0, 1, 0, cluster)
        answer = await client.post("/api/runs/import", content=writer.part([header]) + writer.end())
        row = answer.json()
        assert (row["protocol"], row["origin"]) == ("qjm", "run 5 of clover")
        assert [lane["kind"] for lane in row["lanes"]] == ["journal_node"]
        assert (await client.get("/api/runs/2/picture")).json()["servers"] == {}
        assert (await client.get("/api/runs/2/events")).json()["events"] == []

    with_runs(tmp_path, body)


def test_a_full_disk_refuses_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        monkeypatch.setattr(service, "FREE_BYTES", 1 << 60)
        answer = await client.post("/api/runs/import", content=await exported(client, 1))
        assert answer.status_code == 409 and "would be free on the disk: make room first" in one_line(answer)
        assert not list((lab.home.path / "imported").iterdir())

    with_runs(tmp_path, body)


def test_one_run_is_imported_at_a_time(tmp_path: Path) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        data = await exported(client, 1)
        async with lab.store.imported.adding(2) as path:
            path.touch()
            answer = await client.post("/api/runs/import", content=data)
            assert answer.status_code == 409 and "another run is being imported" in one_line(answer)
            path.unlink()
            raise Impossible("given up")

    with pytest.raises(Impossible, match="given up"):
        with_runs(tmp_path, body)


def test_imported_runs_are_kept_like_any_run(tmp_path: Path) -> None:
    async def many(client: httpx.AsyncClient, lab: Lab) -> None:
        data = await exported(client, 1)
        for _ in range(KEPT_RUNS + 2):
            assert (await client.post("/api/runs/import", content=data)).is_success
        kept = list(range(KEPT_RUNS + 3, 3, -1))
        assert [row["run"] for row in (await client.get("/api/runs")).json()] == [*kept, 1]
        assert len(list((lab.home.path / "imported").glob("*.db"))) == KEPT_RUNS
        (lab.home.path / "imported" / "99.part").touch()
        (lab.home.path / "imported" / "98.db").write_text(
            "no database, and long enough to be seen as none" * 99
        )

    async def later(client: httpx.AsyncClient, lab: Lab) -> None:
        assert lab.store.run == KEPT_RUNS + 4 and not list((lab.home.path / "imported").glob("*.part"))
        await lab.store.imported.forget(lab.store.run, -60)
        assert [row["run"] for row in (await client.get("/api/runs")).json()] == [KEPT_RUNS + 4]
        assert [path.name for path in (lab.home.path / "imported").iterdir()] == ["98.db"]

    with_runs(tmp_path, many, later)


def test_a_past_run_is_removed_and_the_live_one_is_not(tmp_path: Path) -> None:
    async def second(client: httpx.AsyncClient, lab: Lab) -> None:
        data = await exported(client, 1)
        assert (await client.post("/api/runs/import", content=data)).json()["run"] == 3
        kept = (await answers(client, 2))["events"]
        answer = await client.delete("/api/runs/2")
        assert answer.status_code == 409 and "run 2 is going on" in one_line(answer)
        assert "there is no run 7" in one_line(await client.delete("/api/runs/7"))
        for run in (1, 3):
            assert (await client.delete(f"/api/runs/{run}")).json()["run"] == run
            for answer in (
                *[await client.get(f"/api/runs/{run}/{question}") for question in QUESTIONS],
                await client.get(f"/api/runs/{run}/export"),
                await client.delete(f"/api/runs/{run}"),
            ):
                assert answer.status_code == 404 and one_line(answer) == f"run {run} was removed"
        assert [row["run"] for row in (await client.get("/api/runs")).json()] == [2]
        assert not list((lab.home.path / "imported").iterdir())
        assert (await answers(client, 2))["events"] == kept
        again = await client.post("/api/runs/import", content=data)
        assert again.json()["run"] == 4, "a page that showed run 3 would show another one"

    async def third(client: httpx.AsyncClient, lab: Lab) -> None:
        assert [row["run"] for row in (await client.get("/api/runs")).json()] == [5, 4, 2]

    with_runs(tmp_path, live, second, third)


def test_who_reads_a_run_while_it_is_removed_is_told(tmp_path: Path) -> None:
    async def second(client: httpx.AsyncClient, lab: Lab) -> None:
        data = await exported(client, 1)
        assert (await client.post("/api/runs/import", content=data)).json()["run"] == 3
        for run in (1, 3):
            _, parts = await service.export(lab, run)
            assert await anext(parts)
            reader = lab.store.reader_of(run)
            async with reader.execute("SELECT seq FROM events") as rows:
                removal = asyncio.create_task(service.remove(lab, run))
                await asyncio.sleep(0.05)
                assert await rows.fetchall()
            await removal
            with pytest.raises(NotThere, match="was removed"):
                async for _ in parts:
                    pass

    with_runs(tmp_path, live, second)


def test_the_command_removes_all_or_nothing_and_asks_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"protocol": "mams", "started_at": "s", "ended_at": "e", "origin": ""}
    listed = [{**row, "run": run, "live": run == 3} for run in (3, 2, 1)]
    deleted: list[str] = []

    def ask(port: int, method: str, path: str, body: Any = None) -> Any:
        if method == "GET":
            return listed
        deleted.append(path)
        return next(each for each in listed if path.endswith(f"/{each['run']}"))

    monkeypatch.setattr(remote_requests, "ask", ask)
    for words, code, says in (
        (["1", "3", "--yes"], 3, "cloverlab: run 3 is going on: it can be removed when"),
        (["1", "7", "--yes"], 3, "cloverlab: there is no run 7"),
        (["0"], 2, "RUN"),
        (["1"], 3, "Remove run 1 for good? [y/N] cloverlab: nothing was removed"),
    ):
        monkeypatch.setattr("sys.stdin", io.StringIO())
        assert entry(["runs", "remove", *words]) == code
        assert says in capsys.readouterr().err and deleted == []
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert entry(["runs", "remove", "1"]) == entry(["runs", "remove", "2", "2", "1", "--yes"]) == 0
    assert deleted == ["/api/runs/1", "/api/runs/2", "/api/runs/1"]
