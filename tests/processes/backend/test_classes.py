"""A class on simulated clusters: students apart from each other, a lab, a fork, and a control plane that is killed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from backend.app import create_app
from backend.classes import service
from backend.classes.service import Classes
from backend.fleet.fleet import Fleet
from backend.key import authorization, key_in
from backend.lab import Lab
from backend.settings import Settings
from tests.slowness import slower

LAB = "what-is-a-standby"
WITHIN_S = slower(60.0)
SECOND = 1_000_000_000


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))


class Plane:
    """A control plane with a class, and who speaks to it."""

    def __init__(self, lab: Lab, fleet: Fleet, classes: Classes, client: httpx.AsyncClient):
        self.lab = lab
        self.fleet = fleet
        self.classes = classes
        self._client = client
        self.instructor = key_in(lab.home.path)

    async def ask(self, key: str, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        headers = authorization(key)
        answer = await self._client.request(method, f"/api/{path}", json=body, headers=headers)
        assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()

    async def joined(self, code: str, name: str) -> str:
        key: str = (await self.ask("", "POST", "class/join", {"code": code, "name": name}))["key"]
        return key

    async def started(self) -> str:
        code: str = (await self.ask(self.instructor, "POST", "class", {"name": "DS 101"}))["code"]
        return code

    async def cluster(self, key: str) -> str:
        name: str = (await self.ask(key, "POST", "class/me/cluster"))["name"]
        return name

    async def tile(self, name: str) -> dict[str, Any]:
        wall = await self.ask(self.instructor, "GET", "class/wall")
        return next(each for each in wall["tiles"] if each["name"] == name)

    async def until(self, key: str, path: str, true: Callable[[Any], bool]) -> Any:
        async with asyncio.timeout(WITHIN_S):
            while True:
                found = await self.ask(key, "GET", path)
                if true(found):
                    return found
                await asyncio.sleep(0.05)


@contextlib.asynccontextmanager
async def plane(tmp_path: Path) -> AsyncIterator[Plane]:
    lab = await Lab.open(Settings(tmp_path / "data", simulated=True))
    fleet = Fleet(lab)
    classes = Classes(fleet)
    transport = httpx.ASGITransport(app=create_app(fleet, classes), raise_app_exceptions=False)
    try:
        await fleet.start()
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1:8080", timeout=WITHIN_S
        ) as it:
            yield Plane(lab, fleet, classes, it)
    finally:
        await classes.stop()
        await fleet.stop()
        await lab.stop()
        await lab.workers.stop()


def test_each_student_has_a_cluster_and_reaches_no_other(tmp_path: Path) -> None:
    async def run() -> None:
        async with plane(tmp_path) as it:
            code = await it.started()
            ada, eve = await it.joined(code, "Ada"), await it.joined(code, "Eve")
            mine, other = await it.cluster(ada), await it.cluster(eve)
            assert mine != other and await it.cluster(ada) == mine
            fault = {"verb": "crash", "targets": ["active of g1"]}
            await it.until(ada, f"clusters/{mine}/cluster", lambda found: found["settled"])
            await it.ask(eve, "POST", f"clusters/{mine}/faults", fault, 403)
            await it.ask(eve, "GET", f"clusters/{mine}/cluster", None, 403)
            await it.ask(eve, "GET", "clusters/class-none/cluster", None, 403)
            await it.ask(eve, "DELETE", f"clusters/{other}", None, 403)
            await it.ask(ada, "POST", f"clusters/{mine}/faults", fault)
            assert "x1" in (await it.ask(ada, "POST", f"clusters/{mine}/clock", {"speed": 10}, 409))["error"]
            load = {"rate_per_s": 500}
            assert "20 calls" in (await it.ask(ada, "POST", f"clusters/{mine}/workload", load, 409))["error"]
            tile = await it.tile("Ada")
            assert tile["cluster"]["name"] == mine and len(tile["cluster"]["servers"]) == 4
            assert {each["process"] for each in tile["cluster"]["servers"]} == {"running", "stopped"}
            await it.ask(it.instructor, "POST", "class/end")
            assert [name for name in it.fleet.all() if name != "main"] == []
            await it.ask(ada, "GET", f"clusters/{mine}/cluster", None, 401)

    asyncio.run(run())


def test_an_instructor_looks_and_changes_only_what_is_forked(tmp_path: Path) -> None:
    async def run() -> None:
        async with plane(tmp_path) as it:
            code = await it.started()
            ada, instructor = await it.joined(code, "Ada"), it.instructor
            mine = await it.cluster(ada)
            await it.until(ada, f"clusters/{mine}/clock", lambda clock: clock["now_ns"] > SECOND)
            [id] = [student.id for student in it.classes.roster.record.students]
            found = await it.ask(instructor, "GET", f"class/me?cluster={mine}")
            assert (found["name"], found["looks_at"]) == ("", {"id": id, "name": "Ada"})
            assert (await it.ask(ada, "GET", f"class/me?cluster={mine}"))["looks_at"] is None
            fault = {"verb": "crash", "targets": ["active of g1"]}
            changes: list[tuple[str, Any]] = [
                ("faults", fault), ("clock", {"playing": False}), ("workload", {"paused": True}), ("checkpoints", {"name": "c1"}),
                ("fs", {"do": "mkdir", "path": "/theirs"}), ("groups/g1/handover", {}), ("pool", {"group": "g1", "do": "check"}),
            ]  # fmt: skip
            for path, body in changes:
                refused = await it.ask(instructor, "POST", f"clusters/{mine}/{path}", body, 403)
                assert "Ada's cluster" in refused["error"] and "fork it" in refused["error"], path
            await it.ask(instructor, "DELETE", f"clusters/{mine}", None, 403)
            for path in ("cluster", "status", "tree", "runs/1/events", "runs/1/journal?group=g1&from_sn=1&to_sn=5",
                         "runs/1/picture", "fs/list?path=/", "clock", "verbs"):  # fmt: skip
                await it.ask(instructor, "GET", f"clusters/{mine}/{path}")
            [tile] = (await it.ask(instructor, "GET", "class/wall"))["tiles"]
            assert tile["cluster"]["playing"]
            assert {each["process"] for each in tile["cluster"]["servers"]} == {"running"}
            await it.ask(ada, "POST", f"clusters/{mine}/fs", {"do": "mkdir", "path": "/mine"})
            names = (await it.ask(ada, "GET", f"clusters/{mine}/fs/list?path=/"))["entries"]
            assert [each["name"] for each in names if each["name"] in ("mine", "theirs")] == ["mine"]
            fork = (await it.ask(instructor, "POST", f"class/students/{id}/fork"))["name"]
            await it.until(instructor, f"clusters/{fork}/clock", lambda clock: not clock["playing"])
            assert (await it.ask(instructor, "GET", f"class/me?cluster={fork}"))["looks_at"] is None
            await it.ask(instructor, "POST", f"clusters/{fork}/faults", fault)
            await it.ask(instructor, "POST", f"clusters/{fork}/clock", {"playing": True})
            await it.ask(instructor, "DELETE", f"clusters/{fork}")
            await it.ask(ada, "POST", f"clusters/{mine}/faults", fault)
            await it.ask(ada, "POST", f"clusters/{mine}/clock", {"playing": False})

    asyncio.run(run())


def test_an_instructor_neither_answers_nor_ends_a_students_lab(tmp_path: Path) -> None:
    async def run() -> None:
        async with plane(tmp_path) as it:
            code = await it.started()
            ada, instructor = await it.joined(code, "Ada"), it.instructor
            name = (await it.ask(ada, "POST", "attempts", {"lab": LAB, "student": "Ada"}))["name"]
            for path, body in (
                ("answers", {"answers": {}}),
                ("hints", {"step": "how-long"}),
                ("verdict", {}),
            ):
                await it.ask(instructor, "POST", f"attempts/{name}/{path}", body, 403)
            await it.ask(instructor, "DELETE", f"attempts/{name}", None, 403)
            assert (await it.ask(instructor, "GET", f"attempts/{name}"))["phase"] == "predict"
            await predicted(it, ada, name)
            own = (await it.ask(instructor, "POST", "attempts", {"lab": LAB, "student": "Me"}))["name"]
            await predicted(it, instructor, own)
            await it.ask(
                instructor, "POST", f"clusters/{own}/faults", {"verb": "crash", "targets": ["active of g1"]}
            )
            await it.ask(instructor, "DELETE", f"attempts/{own}")

    asyncio.run(run())


async def predicted(it: Plane, key: str, name: str) -> None:
    answers = {"how-long": 4.5, "standbys-left": 2, "failed-calls": "0"}
    found = await it.ask(key, "POST", f"attempts/{name}/answers", {"answers": answers})
    assert found["phase"] == "run"


def test_a_lab_takes_the_place_of_the_free_cluster_and_its_verdict_is_kept(tmp_path: Path) -> None:
    async def run() -> None:
        async with plane(tmp_path) as it:
            code = await it.started()
            ada = await it.joined(code, "Ada")
            free = await it.cluster(ada)
            body = {"lab": LAB, "student": "somebody else"}
            attempt = await it.ask(ada, "POST", "attempts", body)
            assert attempt["student"] == "Ada" and it.fleet.find(free) is None
            name = attempt["name"]
            await predicted(it, ada, name)
            await it.ask(
                ada, "POST", f"clusters/{name}/faults", {"verb": "crash", "targets": ["active of g1"]}
            )
            tile = await it.tile("Ada")
            assert (tile["lab"], tile["phase"]) == (LAB, "run")
            assert [each["answer"] for each in tile["steps"]][:3] == ["4.5", "2", "0"]
            await it.ask(ada, "POST", f"attempts/{name}/verdict", {})
            record = it.classes.roster.record.students[0]
            assert len(record.results) == 1 and record.results[0].ended_s and record.run is None
            again = await it.ask(ada, "POST", "attempts", body)
            assert again["name"] != name and len(it.fleet.all()) == 2, "one cluster for each student"

    asyncio.run(run())


def test_a_fork_has_the_same_past_and_the_run_goes_on(tmp_path: Path) -> None:
    async def run() -> None:
        async with plane(tmp_path) as it:
            code = await it.started()
            ada = await it.joined(code, "Ada")
            mine = await it.cluster(ada)
            await it.until(ada, f"clusters/{mine}/clock", lambda clock: clock["now_ns"] > 2 * SECOND)
            await it.ask(
                ada, "POST", f"clusters/{mine}/faults", {"verb": "crash", "targets": ["active of g1"]}
            )
            id = (await it.tile("Ada"))["id"]
            fork = (await it.ask(it.instructor, "POST", f"class/students/{id}/fork"))["name"]
            whole = await it.until(
                it.instructor, f"clusters/{fork}/clock", lambda clock: not clock["playing"]
            )
            live = await it.ask(ada, "GET", f"clusters/{mine}/clock")
            assert live["playing"] and live["now_ns"] >= whole["now_ns"] > 2 * SECOND
            await it.ask(ada, "GET", f"clusters/{fork}/clock", None, 403)
            events = [
                [each for each in (await it.ask(it.instructor, "GET", f"clusters/{name}/runs/1/events?limit=1000"))["events"]
                 if each["at_ns"] <= whole["now_ns"] and each["server"] not in ("checks",)]
                for name in (mine, fork)
            ]  # fmt: skip
            assert events[0] and [(e["kind"], e["at_ns"], e["server"]) for e in events[0]] == [
                (e["kind"], e["at_ns"], e["server"]) for e in events[1]
            ]

    asyncio.run(run())


def test_a_student_who_is_away_is_paused_and_one_whose_time_is_over_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        async with plane(tmp_path) as it:
            code = await it.started()
            ada = await it.joined(code, "Ada")
            mine = await it.cluster(ada)
            id = it.classes.roster.record.students[0].id
            await it.classes.look_after(id)
            assert (await it.ask(ada, "GET", f"clusters/{mine}/clock"))["playing"]
            monkeypatch.setattr(service, "IDLE_S", -1.0)
            await it.classes.look_after(id)
            paused = await it.ask(ada, "GET", f"clusters/{mine}/clock")
            assert not paused["playing"]
            monkeypatch.undo()
            played = await it.ask(ada, "POST", f"clusters/{mine}/clock", {"playing": True})
            assert played["playing"] and played["until_ns"] == it.classes.bounds.until_ns

    asyncio.run(run())


def test_after_a_new_start_a_student_goes_on_where_they_were(tmp_path: Path) -> None:
    async def before() -> tuple[str, str, int]:
        async with plane(tmp_path) as it:
            code = await it.started()
            ada = await it.joined(code, "Ada")
            name = (await it.ask(ada, "POST", "attempts", {"lab": LAB, "student": "Ada"}))["name"]
            await predicted(it, ada, name)
            await it.ask(ada, "POST", f"attempts/{name}/hints", {"step": "how-long"})
            await it.ask(
                ada, "POST", f"clusters/{name}/faults", {"verb": "crash", "targets": ["active of g1"]}
            )
            run = await it.until(ada, f"attempts/{name}", lambda found: found["run_s"] > 3)
            assert run["phase"] == "run"
            clock = await it.ask(ada, "GET", f"clusters/{name}/clock")
            return ada, name, clock["now_ns"]

    async def after(ada: str, old: str, now_ns: int) -> None:
        async with plane(tmp_path) as it:
            me = await it.ask(ada, "GET", "class/me")
            assert (me["name"], me["cluster"]) == ("Ada", "")
            name = await it.cluster(ada)
            assert name != old and name.startswith("lab-")
            clock = await it.until(ada, f"clusters/{name}/clock", lambda clock: not clock["playing"])
            assert clock["now_ns"] > now_ns - 2 * SECOND
            found = await it.ask(ada, "GET", f"attempts/{name}")
            assert (found["phase"], found["lab"]) == ("run", LAB) and found["run_s"] > 1
            first = found["steps"][0]
            assert first["answer"] == "4.5" and len(first["hints"]) == 1
            await it.classes.look_after(it.classes.roster.record.students[0].id)
            student = it.classes.roster.record.students[0]
            assert student.run is not None and student.run.cluster == name
            await it.ask(ada, "POST", f"clusters/{name}/clock", {"playing": True})
            passed = await it.until(
                ada,
                f"attempts/{name}",
                lambda found: (
                    {step["id"]: step["state"] for step in found["steps"]}["nothing-lost"] == "passed"
                ),
            )
            assert passed["phase"] == "run"
            await it.ask(ada, "POST", f"attempts/{name}/verdict", {})
            [result] = it.classes.roster.record.students[0].results
            assert result.attempt == name and result.steps["nothing-lost"]

    asyncio.run(after(*asyncio.run(before())))
