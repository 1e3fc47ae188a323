"""Searches behind the page: what is found, refusals, and that no process remains."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from backend.lab import Lab
from backend.repository import REPOSITORY
from backend.scenarios.reader import read
from backend.searches import process, search_file
from backend.searches.models import view_of
from backend.searches.schedule import place_of, schedule_of
from backend.searches.search import POINTS_MAX, CurvePoint, Search, SearchCurve
from backend.searches.service import Searches
from backend.searches.wish import SearchWish, choices
from nodes.config import Holes, one_group
from nodes.explore.bugs import bugs
from nodes.explore.calls import Caller
from nodes.explore.plan import Fault, Plan
from nodes.mutations import Mutations
from nodes.sim.triggers import Trigger
from tests.failing_seed import BUG, failing_seed
from tests.unit.backend.test_api import JSON, one_line, with_api


@pytest.mark.parametrize(
    ("asked", "status", "says"),
    [
        ({}, 422, "minutes or seeds: one of them"),
        ({"minutes": 1, "seeds": 5}, 422, "minutes or seeds: one of them"),
        ({"minutes": 61}, 422, "less than or equal to 60"),
        ({"minutes": 0}, 422, "greater than 0"),
        ({"seeds": 10**9}, 422, "less than or equal to 100000"),
        ({"seeds": 5, "family": "raft"}, 422, "family 'raft' is unknown; there are mams"),
        ({"seeds": 5, "family": "backupnode"}, 422, "is unknown"),
        ({"seeds": 5, "bug": "nothing"}, 422, "no bug is called 'nothing'"),
        ({"seeds": 5, "bug": "late_watch", "family": "symmetric"}, 422, "is a hole of mams"),
        ({"seeds": 5, "jobs": 10_000}, 422, "jobs: this machine has"),
        ({"seeds": 5, "shell": "ls"}, 422, "Extra inputs"),
    ],
)
def test_a_wrong_wish_gets_one_line(tmp_path: Path, asked: dict[str, Any], status: int, says: str) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        response = await client.post("/api/explore", json=asked, headers=JSON)
        assert response.status_code == status and says in one_line(response)
        assert (await client.get("/api/explore")).json()["state"] == "none"

    with_api(tmp_path, body)


def test_each_bug_that_can_be_chosen_says_what_it_is() -> None:
    offered = choices()["bugs"]
    assert [each["name"] for each in offered] == [bug.name for bug in bugs()]
    for each in offered:
        assert each["says"].endswith(".") and each["family"] in each["families"], each["name"]
    kinds = {each["name"]: each["kind"] for each in offered}
    assert all(hasattr(Holes(), name) == (kind == "hole") for name, kind in kinds.items())
    assert all(hasattr(Mutations(), name) == (kind == "mutation") for name, kind in kinds.items())


def test_a_bug_is_found_shrunk_and_written_as_a_file_that_repeats_it(tmp_path: Path) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        asked = {"family": "mams", "bug": BUG, "seeds": 2, "first_seed": failing_seed()}
        assert (await client.post("/api/explore", json=asked, headers=JSON)).json()["state"] == "running"
        busy = await client.post("/api/explore", json=asked, headers=JSON)
        assert busy.status_code == 409 and "a search or a shrinking runs" in one_line(busy)
        found = await until_over(client)
        assert (found["state"], found["seeds"], found["note"], found["left_s"]) == ("ended", 2, "", 0)
        assert found["coverage"] > 0 and found["calls"] > 0 and found["curve"][-1]["seeds"] == 2
        assert found["failed"] == sum(each["count"] for each in found["failures"]) > 0
        row = min(found["failures"], key=lambda each: each["faults"] + each["calls"])
        number = row["number"]
        failure = (await client.get(f"/api/explore/failures/{number}")).json()
        assert len(failure["schedule"]["faults"]) == row["faults"] and failure["explanation"]
        assert failure["command"] == f"./cloverlab run {failure['file']}"
        file = await client.get(f"/api/explore/failures/{number}/file")
        assert failure["file"] in file.headers["Content-Disposition"] and file.text == failure["yaml"]
        path = tmp_path / failure["file"]
        path.write_text(file.text)
        [scenario] = read(path)
        plan = scenario.plan()
        assert (plan.seed, len(plan.faults), plan.calls) == (failure["seed"], row["faults"], row["calls"])
        assert plan.cluster.mutations.off_by_one_quorum
        shrinking = await client.post(f"/api/explore/failures/{number}/shrink", headers=JSON)
        assert shrinking.status_code == 200
        again = await client.post(f"/api/explore/failures/{number}/shrink", headers=JSON)
        assert again.status_code == 409 and "being shrunk" in one_line(again)
        while (now := await row_of(client, number))["trials"] < 3 and now["state"] == "shrinking":
            await asyncio.sleep(0.05)
        assert now["state"] != "found" and now["note"] == ""
        assert (await client.delete("/api/explore")).status_code == 200
        now = await row_of(client, number)
        assert now["state"] in ("shrunk", "partly shrunk")
        assert now["faults"] + now["calls"] <= row["faults"] + row["calls"]
        assert (await client.get(f"/api/explore/failures/{number}")).json()["explanation"]
        missing = await client.get("/api/explore/failures/99")
        assert missing.status_code == 404 and "no failure 99" in one_line(missing)

    with_api(tmp_path, body)


def test_one_request_plays_a_failure_to_its_broken_promise(tmp_path: Path) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        asked = {"family": "mams", "bug": BUG, "seeds": 1, "first_seed": failing_seed()}
        await client.post("/api/explore", json=asked, headers=JSON)
        found = (await until_over(client))["failures"][0]
        missing = await client.post("/api/explore/failures/99/play", headers=JSON)
        assert missing.status_code == 404
        names = []
        for _ in range(2):
            played = await client.post(f"/api/explore/failures/{found['number']}/play", headers=JSON)
            assert played.status_code == 200, played.text
            names.append(played.json()["name"])
        name = f"mams-{failing_seed()}"
        assert names == [name, f"{name}-2"]
        while (await client.get("/api/clusters")).json()[1]["playing"]:
            await asyncio.sleep(0.05)
        now = (await client.get(f"/api/clusters/{name}/cluster")).json()
        red = [each for each in now["invariants"] if each["state"] == "red"]
        assert found["invariant"] in [each["invariant"] for each in red]
        assert found["explanation"] in [each["explanation"] for each in red]

    with_api(tmp_path, body)


async def until_over(client: httpx.AsyncClient) -> dict[str, Any]:
    while (found := (await client.get("/api/explore")).json())["state"] == "running":
        await asyncio.sleep(0.05)
    return dict(found)


async def row_of(client: httpx.AsyncClient, number: int) -> dict[str, Any]:
    [row] = [
        each for each in (await client.get("/api/explore")).json()["failures"] if each["number"] == number
    ]
    return dict(row)


def members(group: int) -> list[int]:
    """The processes of a group that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, of = path.read_text().rpartition(") ")[2].split()[:3]
        except OSError:
            continue
        if int(of) == group and state != "Z":
            found.append(int(path.parent.name))
    return found


async def begun(searches: Searches) -> tuple[Search, int]:
    """A long search after its first seed, and the group of its processes."""
    search = searches.begin(SearchWish("mams", None, minutes=10))
    while not search.figures.seeds:
        await asyncio.sleep(0.05)
    process = searches._underway[0].process._process
    assert process is not None
    return search, process.pid


def test_a_stopped_search_keeps_its_findings_and_leaves_no_process() -> None:
    async def scenario() -> None:
        searches = Searches()
        search, group = await begun(searches)
        assert len(members(group)) > 1
        assert all(os.getpriority(os.PRIO_PROCESS, pid) >= 10 for pid in members(group))
        assert await searches.stop() is search
        assert search.state == "stopped" and search.figures.seeds > 0 and search.left_s == 0
        assert await searches.stop() is search and not members(group)

    asyncio.run(scenario())


def test_the_end_of_the_control_plane_ends_a_search() -> None:
    async def scenario() -> None:
        searches = Searches()
        search, group = await begun(searches)
        await searches.close()
        assert search.state == "stopped" and not members(group)

    asyncio.run(scenario())


def test_the_findings_outlive_the_control_plane(tmp_path: Path) -> None:
    async def scenario() -> None:
        searches = Searches(tmp_path / "search.json")
        search = searches.begin(SearchWish("mams", BUG, minutes=10, seeds=None, first_seed=1))
        while not search.failures:
            await asyncio.sleep(0.05)
        await searches.close()
        again = Searches(tmp_path / "search.json")
        assert again.newest is not None and view_of(again.newest) == view_of(search)
        assert view_of(search)["state"] == "stopped" and again.failure(1) == search.failure(1)
        (tmp_path / "search.json").write_text("{")
        assert Searches(tmp_path / "search.json").newest is None

    asyncio.run(scenario())


def test_a_full_disk_is_said_and_the_findings_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, data: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async def scenario() -> None:
        monkeypatch.setattr(search_file, "replace_file", full)
        searches = Searches(tmp_path / "search.json")
        search = searches.begin(SearchWish("mams", None, seeds=1))
        while searches._are_underway():
            await asyncio.sleep(0.05)
        assert search.state == "ended" and search.figures.seeds == 1
        assert search.note.endswith("cannot be written: No space left on device")

    asyncio.run(scenario())


OWNER = """
import asyncio, sys
from backend.searches.service import Searches
from backend.searches.wish import SearchWish

async def main():
    searches = Searches()
    search = searches.begin(SearchWish("mams", None, minutes=10))
    while not search.figures.seeds:
        await asyncio.sleep(0.05)
    print(searches._underway[0].process._process.pid, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


def test_a_search_ends_when_its_owner_is_killed() -> None:
    async def scenario() -> None:
        owner = await asyncio.create_subprocess_exec(
            sys.executable, "-c", OWNER, cwd=REPOSITORY, stdout=asyncio.subprocess.PIPE
        )
        assert owner.stdout is not None
        group = int(await owner.stdout.readline())
        assert members(group)
        owner.kill()
        await owner.wait()
        while members(group):
            await asyncio.sleep(0.05)

    asyncio.run(scenario())


def test_a_killed_process_ends_its_workers_and_the_search() -> None:
    async def scenario() -> None:
        searches = Searches()
        search, group = await begun(searches)
        assert len(members(group)) > 1
        os.kill(group, signal.SIGKILL)
        while search.state == "running":
            await asyncio.sleep(0.02)
        assert (search.state, search.note) == ("failed", "the search's process ended: by SIGKILL")
        assert search.figures.seeds > 0 and not members(group)

    asyncio.run(scenario())


def test_a_broken_process_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(words: str) -> None:
        searches = Searches()
        search = searches.begin(SearchWish("mams", None, seeds=1))
        while search.state == "running":
            await asyncio.sleep(0.02)
        assert search.state == "failed" and words in search.note

    monkeypatch.setattr(process, "COMMAND", (*process.COMMAND[:1], "-c", "raise SystemExit('no memory')"))
    asyncio.run(scenario("the search's process ended: no memory"))
    monkeypatch.setattr(process, "COMMAND", ("/nowhere/python",))
    asyncio.run(scenario("cannot start the search's process: No such file"))


def test_the_course_stays_small_and_keeps_its_ends() -> None:
    curve = SearchCurve()
    for number in range(1, 5_000):
        curve.add(CurvePoint(number / 2, number, number * 2))
    points = curve.points
    assert len(points) <= POINTS_MAX + 1
    assert points[0].at_s == 0 and points[-1].seeds == 4_999
    assert [each.at_s for each in points] == sorted({each.at_s for each in points})


def test_a_schedule_is_read_as_steps() -> None:
    plan = Plan(
        7,
        one_group(),
        callers=[
            Caller("c1", ["create /a"] * 32, start_ms=500),
            Caller("c2", ["stat /a"], dies_ms=2_000),
        ],
        faults=[
            Fault("cut", ["mds1", "mds2"], {"direction": "both", "lost": False}, at_ms=1_500, for_ms=3_000),
            Fault("crash", ["whoever of g1"], on=Trigger("sync", "whoever of g1", 3, "before", "journal")),
        ],
    )
    schedule = schedule_of(plan)
    assert [(step.when, step.what) for step in schedule.faults] == [
        ("before the 3rd sync of journal at whoever of g1", "crash whoever of g1"),
        ("1.5 s", "cut mds1, mds2 (direction both) for 3 s"),
    ]
    assert schedule.clients[0].when == "c1, from 0.5 s"
    assert schedule.clients[0].what.endswith("create /a, and 2 more calls")
    assert schedule.clients[1].what == "stat /a; it is killed at 2 s"
    assert schedule.cluster[0].startswith("g1: mds1, mds2")
    early = schedule_of(replace(plan, unsettled_ms=5))
    assert [*schedule.cluster, early.cluster[-1]] == early.cluster and "0.005 s after" in early.cluster[-1]


@pytest.mark.parametrize(
    ("trigger", "words"),
    [
        (Trigger("write", "mds1", name="lock"), "the 1st write of lock to coordination by mds1"),
        (
            Trigger("sent", "mds1", 2, name="Prepare", peer="mds2"),
            "the 2nd message Prepare leaves mds1 for mds2",
        ),
        (Trigger("delivered", "mds1"), "the 1st message from mds1 is delivered at any server"),
        (Trigger("step", "mds1", name="upgrade/3"), "the 1st step upgrade/3 of mds1"),
    ],
)
def test_a_place_of_progress_is_read(trigger: Trigger, words: str) -> None:
    assert place_of(trigger) == words
