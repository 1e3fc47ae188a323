"""Attempts at labs on simulated clusters of their own, over the API."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from backend.attempts import service
from tests.processes.backend.in_process import api

LAB = "what-is-a-standby"
RIGHT = {"how-long": 4.5, "standbys-left": 2, "failed-calls": "0"}
WITHIN_S = 60.0


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))


async def post(client: httpx.AsyncClient, path: str, body: Any, status: int = 200) -> Any:
    answer = await client.post(f"/api/{path}", json=body)
    assert answer.status_code == status, answer.text
    return answer.json() if status == 200 else answer.json()["error"]


async def started(client: httpx.AsyncClient, lab: str = LAB, student: str = "ada") -> str:
    name: str = (await post(client, "attempts", {"lab": lab, "student": student}))["name"]
    await post(client, f"clusters/{name}/clock", {"playing": True, "speed": 10})
    return name


async def until(
    client: httpx.AsyncClient, name: str, true: Callable[[dict[str, str]], bool]
) -> dict[str, Any]:
    """The attempt as soon as the states of its steps are so."""
    async with asyncio.timeout(WITHIN_S):
        while True:
            found: dict[str, Any] = (await client.get(f"/api/attempts/{name}")).json()
            if true({step["id"]: step["state"] for step in found["steps"]}):
                return found
            await asyncio.sleep(0.05)


def test_a_student_predicts_breaks_and_passes_and_the_progress_is_kept(tmp_path: Path) -> None:
    async def run() -> None:
        async with api(tmp_path / "data") as client:
            name = await started(client)
            fault = {"verb": "crash", "targets": ["active of g1"]}
            assert "predict first" in await post(client, f"clusters/{name}/faults", fault, 409)
            assert "has not begun" in await post(client, f"attempts/{name}/verdict", {}, 409)
            found = await post(client, f"attempts/{name}/hints", {"step": "how-long"})
            assert len(found["steps"][0]["hints"]) == 1 and found["steps"][0]["hints_left"] == 1
            found = await post(client, f"attempts/{name}/answers", {"answers": RIGHT})
            assert found["phase"] == "run"
            await post(client, f"clusters/{name}/faults", fault)
            found = await until(client, name, lambda steps: steps["nothing-lost"] == "passed")
            assert not found["passed"] and not found["steps"][0]["why"]
            found = await post(client, f"attempts/{name}/verdict", {})
            assert found["passed"] and found["phase"] == "over", found
            assert "over" in await post(client, f"clusters/{name}/faults", fault, 409)
            assert (await client.get(f"/api/attempts/{name}")).json() == found
            rows = (await client.get("/api/labs", params={"student": "ada"})).json()
            assert [row["lab"] for row in rows if row["done"]] == [LAB]
            assert (await client.delete(f"/api/attempts/{name}")).json() == []
            assert [each["name"] for each in (await client.get("/api/clusters")).json()] == ["main"]

    asyncio.run(run())


def test_a_wrong_prediction_fails_at_its_step(tmp_path: Path) -> None:
    async def run() -> None:
        async with api(tmp_path / "data") as client:
            name = await started(client)
            await post(client, f"attempts/{name}/answers", {"answers": {**RIGHT, "failed-calls": "1"}})
            await post(client, f"clusters/{name}/faults", {"verb": "crash", "targets": ["active of g1"]})
            await until(client, name, lambda steps: steps["nothing-lost"] == "passed")
            found = await post(client, f"attempts/{name}/verdict", {})
            assert [step["id"] for step in found["steps"] if step["state"] == "failed"] == ["failed-calls"]

    asyncio.run(run())


def test_attempts_are_few_and_an_idle_one_makes_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with api(tmp_path / "data") as client:
            first, second = await started(client), await started(client, student="Ada ")
            assert (await client.get(f"/api/attempts/{first}")).status_code == 404
            monkeypatch.setattr(service, "ATTEMPTS_MAX", 1)
            wanted = {"lab": LAB, "student": "eve"}
            assert "under way" in await post(client, "attempts", wanted, 409)
            monkeypatch.setattr(service, "IDLE_S", 0.0)
            third = (await post(client, "attempts", wanted))["name"]
            left = [each["name"] for each in (await client.get("/api/attempts")).json()]
            assert left == [third] and second not in left

    asyncio.run(run())


def test_an_attempt_that_waits_for_its_cluster_holds_up_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        ready = asyncio.Event()
        monkeypatch.setattr(service, "settled", lambda cluster: ready.wait())
        async with api(tmp_path / "data") as client, asyncio.timeout(WITHIN_S):
            waits, ended = await started(client), await started(client, student="bob")
            body = {"answers": RIGHT}
            answering = asyncio.create_task(post(client, f"attempts/{waits}/answers", body))
            too_late = asyncio.create_task(post(client, f"attempts/{ended}/answers", body, 404))
            await started(client, student="eve")
            await client.delete(f"/api/attempts/{ended}")
            assert not answering.done() and not too_late.done()
            ready.set()
            assert (await answering)["phase"] == "run" and "no attempt" in await too_late

    asyncio.run(run())


def test_an_attempt_survives_new_starts_of_the_control_plane(tmp_path: Path) -> None:
    def shown(found: dict[str, Any]) -> Any:
        return [(step["id"], step["answer"], step["hints"]) for step in found["steps"]]

    async def whole(client: httpx.AsyncClient, name: str) -> dict[str, Any]:
        """The attempt of this name once its run was repeated."""
        async with asyncio.timeout(WITHIN_S):
            found: dict[str, Any] = (await client.get(f"/api/attempts/{name}")).json()
            while (await client.get(f"/api/clusters/{found['name']}/clock")).json()["playing"]:
                await asyncio.sleep(0.05)
            return (await client.get(f"/api/attempts/{found['name']}")).json()  # type: ignore[no-any-return]

    async def run() -> None:
        async with api(tmp_path / "data") as client:
            name, without = await started(client), await started(client, student="bob")
            await post(client, f"attempts/{name}/answers", {"answers": RIGHT})
            await post(client, f"clusters/{name}/faults", {"verb": "crash", "targets": ["active of g1"]})
            await until(client, name, lambda steps: steps["nothing-lost"] == "passed")
            before = await post(client, f"attempts/{name}/hints", {"step": "how-long"})
        for _ in range(2):
            async with api(tmp_path / "data") as client:
                assert (await client.get(f"/api/attempts/{without}")).status_code == 404
                first, again = await asyncio.gather(whole(client, name), whole(client, name))
                assert first["name"] == again["name"] != name and not again["trouble"]
                assert [each["name"] for each in (await client.get("/api/attempts")).json()] == [
                    again["name"]
                ]
                assert shown(again) == shown(before)
                before, name = again, again["name"]
        async with api(tmp_path / "data") as client:
            again = await whole(client, name)
            assert {step["state"] for step in again["steps"] if step["id"] == "nothing-lost"} == {"passed"}
            found = await post(client, f"attempts/{again['name']}/verdict", {})
            assert found["passed"] and found["phase"] == "over", found
        async with api(tmp_path / "data") as client:
            assert (await client.get("/api/attempts")).json() == []

    asyncio.run(run())


def test_hostile_requests_are_refused_with_one_line(tmp_path: Path) -> None:
    async def run() -> None:
        async with api(tmp_path / "data") as client:
            surrogate = b'{"lab": "what-is-a-standby", "student": "\\ud800"}'
            answer = await client.post(
                "/api/attempts", content=surrogate, headers={"Content-Type": "application/json"}
            )
            assert answer.status_code == 422 and "\n" not in answer.json()["error"], answer.text
            for body in (
                {}, {"lab": "../x", "student": "a"}, {"lab": LAB, "student": ""}, {"lab": LAB, "student": " "},
                {"lab": LAB, "student": "a" * 61}, {"lab": LAB, "student": "a", "x": 1},
            ):  # fmt: skip
                answer = await client.post("/api/attempts", json=body)
                assert answer.status_code in (404, 422) and "\n" not in answer.json()["error"], answer.text
            name = await started(client)
            for answers in (
                {},
                {"how-long": "x" * 201},
                {**RIGHT, "how-long": 10**400},
                {**RIGHT, "no": 1},
                {**RIGHT, "crash": 1},
                {**RIGHT, "how-long": []},
            ):
                answer = await client.post(f"/api/attempts/{name}/answers", json={"answers": answers})
                assert answer.status_code in (404, 422) and "\n" not in answer.json()["error"], answer.text
            assert "no step" in await post(client, f"attempts/{name}/hints", {"step": "%00"}, 404)
            refused = await client.post("/api/clusters", json={"name": "lab-x"})
            assert refused.status_code == 422

    asyncio.run(run())
