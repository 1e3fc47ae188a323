"""Comparisons: measurements, refusals, and that no process remains."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from backend.compare.measures import BUCKET_NS, Measures
from backend.compare.service import SCENARIOS, choices
from backend.lab import Lab
from nodes.trace import events as e
from tests.unit.backend.story import Story, called
from tests.unit.backend.test_api import JSON, one_line, with_api

CRASH = "faults/crash-the-active"
SECOND = 1_000_000_000


def test_what_is_measured_is_what_was_reported() -> None:
    story, measures = Story(), Measures()
    for number in range(1, 5):
        answer = called(number, number * 1000, error="EIO" if number == 4 else "")
        measures.on_event(story(number * 1000, "client1", answer))
    measures.on_event(story(2000, "fabric", e.FaultInjected(1, "crash", ["mds1"], {})))
    measures.on_message("Prepare", 100)
    measures.on_message("Prepare", 60)
    measures.on_message("Answer", 20)
    reported = measures.measured(SECOND, 5 * SECOND, 8, [])
    assert (reported.calls, reported.failed_calls, reported.seconds) == (4, 1, 4.0)
    assert (reported.messages_per_call, reported.bytes_per_call, reported.log_writes_per_call) == (
        0.75,
        45.0,
        2.0,
    )
    assert list(reported.messages) == ["Prepare", "Answer"]
    assert reported.faults == [(SECOND, "crash", ["mds1"])]
    per_second = SECOND // BUCKET_NS
    assert [reported.curve.ok[place * per_second] for place in range(3)] == [1, 1, 1]
    assert reported.curve.failed[3 * per_second] == 1 and sum(reported.curve.ok) == 3


def test_every_scenario_file_can_be_chosen() -> None:
    assert len(choices()["scenarios"]) == len(list(SCENARIOS.rglob("*.yaml")))


@pytest.mark.parametrize(
    ("request_", "status", "says"),
    [
        ({"scenario": "../secrets", "configurations": [{}, {}]}, 404, "no scenario is called"),
        ({"scenario": CRASH, "configurations": [{}]}, 422, "at least 2"),
        ({"scenario": CRASH, "configurations": [{}, {"protocol": "raft"}]}, 422, "unknown; there is mams"),
        ({"scenario": CRASH, "configurations": [{}, {"placement": "far"}]}, 422, "placement"),
        (
            {"scenario": CRASH, "configurations": [{}, {"holes": ["late"]}]},
            422,
            "'late' is not a hole; there are",
        ),
        ({"scenario": CRASH, "configurations": [{}, {"groups": 8, "standbys": 9}]}, 422, "16 is the most"),
    ],
)
def test_a_wrong_wish_gets_one_line(tmp_path: Path, request_: dict[str, Any], status: int, says: str) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        response = await client.post("/api/compare", json=request_, headers=JSON)
        assert response.status_code == status and says in one_line(response)

    with_api(tmp_path, body)


def test_two_configurations_run_side_by_side_and_can_be_cancelled(tmp_path: Path) -> None:
    wish = {"scenario": CRASH, "seed": 3, "configurations": [{"standbys": 1}, {"standbys": 3}]}

    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        begun = (await client.post("/api/compare", json=wish, headers=JSON)).json()
        busy = await client.post("/api/compare", json=wish, headers=JSON)
        assert busy.status_code == 409 and "is not over" in one_line(busy)
        reported = begun
        while not all(each["state"] == "done" for each in reported["configurations"]):
            assert not any(each["error"] for each in reported["configurations"])
            await asyncio.sleep(0.05)
            reported = (await client.get(f"/api/compare/{begun['comparison']}")).json()
        one, three = (each["measured"] for each in reported["configurations"])
        assert len(one["failovers"]) == len(three["failovers"]) == 1
        assert one["messages_per_call"] < three["messages_per_call"]
        assert one["log_writes_per_call"] < three["log_writes_per_call"]
        assert {each["state"] for each in one["invariants"] + three["invariants"]} == {"green"}
        again = (await client.post("/api/compare", json=wish, headers=JSON)).json()
        cancelled = (await client.delete(f"/api/compare/{again['comparison']}")).json()
        assert {each["state"] for each in cancelled["configurations"]} == {"cancelled"}
        gone = await client.get(f"/api/compare/{begun['comparison']}")
        assert gone.status_code == 404

    with_api(tmp_path, body)
