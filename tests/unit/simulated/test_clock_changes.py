"""Changes of the clock through the API: what is refused in one line, what a change leaves as it is, and a promise that breaks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from backend.clock.models import ClockChange
from backend.clock.router import changed
from backend.conditions.service import EVENTS, choices
from backend.errors import Impossible, Malformed
from backend.fabrics.clock import ClockState
from backend.fabrics.home import Home
from backend.lab import Lab
from backend.shape import Shape, new_config
from backend.simulated.fabric import SimulatedFabric
from backend.simulated.messages import Answered, ClusterProgress, Report, SetClock
from nodes.trace.events import CheckFailed
from tests.unit.backend.test_api import one_line, with_api


class Answering:
    """A worker of one cluster, which does what it is asked at once."""

    alive = True

    def __init__(self) -> None:
        self.receivers: dict[str, Callable[[Report], None]] = {}
        self.clock = ClockState(0, playing=False)

    async def place(self, key: str, receive: Callable[[Report], None]) -> Answering:
        self.receivers[key] = receive
        return self

    def send(self, request: Any) -> None:
        if not isinstance(request, SetClock):
            return
        self.clock = ClockState(
            5_000, request.playing, request.speed, 0.0, request.until_ns,
            request.until_event, request.until_condition, request.met,
        )  # fmt: skip
        receive = self.receivers[request.cluster]
        receive(ClusterProgress(request.cluster, self.clock))
        answer = Answered(request.cluster, request.id, msgspec.json.encode(self.clock))
        asyncio.get_running_loop().call_soon(receive, answer)


def with_fabric(tmp_path: Path, body: Callable[[SimulatedFabric], Awaitable[None]]) -> None:
    async def run() -> None:
        home = Home.make(tmp_path / "data", new_config(Shape(), "c"), 1)
        fabric = SimulatedFabric(home, lambda events: None, None, 1, Answering())  # type: ignore[arg-type]
        try:
            await fabric.start()
            await body(fabric)
        finally:
            home.close()

    asyncio.run(run())


def test_a_change_of_the_speed_leaves_what_the_clock_runs_until(tmp_path: Path) -> None:
    async def body(fabric: SimulatedFabric) -> None:
        running = await changed(fabric, ClockChange(until_condition="mds9 is standby", until_ns=9_000))
        assert running.playing and running.until_condition == "mds9 is standby"
        faster = await changed(fabric, ClockChange(speed=20.0))
        assert faster == msgspec.structs.replace(running, speed=20.0)
        paused = await changed(fabric, ClockChange(playing=False))
        assert not paused.playing and (paused.until_condition, paused.until_ns) == ("", 0)

    with_fabric(tmp_path, body)


def test_a_broken_promise_which_the_control_plane_finds_pauses_the_clock(tmp_path: Path) -> None:
    async def body(fabric: SimulatedFabric) -> None:
        await changed(fabric, ClockChange(playing=True))
        fabric.report("checks", CheckFailed("one", "two serve", []))
        assert fabric.clock.playing, "nobody waits for it"
        await changed(fabric, ClockChange(until_event="CheckFailed"))
        fabric.report("checks", CheckFailed("one", "two serve", []))
        assert not fabric.clock.playing and fabric.clock.met == "CheckFailed"

    with_fabric(tmp_path, body)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"until_condition": "happy"}, Malformed),
        ({"until_condition": "blocks whole"}, Malformed),
        ({"until_condition": "reported Serving"}, Malformed),
        ({"until_event": "Nothing"}, Malformed),
        ({"until_condition": "settled", "playing": False}, Malformed),
        ({"until_condition": "settled", "step": "event"}, Malformed),
        ({"until_ns": 4_000}, Impossible),
    ],
)
def test_what_nobody_can_run_until_is_refused(
    tmp_path: Path, change: dict[str, Any], error: type[Exception]
) -> None:
    async def body(fabric: SimulatedFabric) -> None:
        before = await changed(fabric, ClockChange(playing=True))
        with pytest.raises(error):
            await changed(fabric, ClockChange(**change))
        assert fabric.clock == before

    with_fabric(tmp_path, body)


def test_the_api_answers_in_one_line(tmp_path: Path) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        post = client.post
        real = await post("/api/clock", json={"until_condition": "settled"})
        assert real.status_code == 409 and "only a simulated cluster" in one_line(real)
        gone = await post("/api/clusters/gone/clock", json={"until_condition": "settled"})
        assert gone.status_code == 404 and one_line(gone)
        for until in (
            {"until_ns": 1 << 61},
            {"until_ns": -1},
            {"until_ns": 1.5},
            {"until_condition": "x" * 121},
        ):
            absurd = await post("/api/clock", json=until)
            assert absurd.status_code == 422 and one_line(absurd)
        for text in ("happy", "reported Serving", "x" * 121, "mds2 is\nstandby", ""):
            refused = await client.get("/api/conditions/now", params={"text": text})
            assert refused.status_code == 422 and one_line(refused), text

    with_api(tmp_path, body)


def test_a_simulated_cluster_can_run_until_each_of_its_choices(tmp_path: Path) -> None:
    async def body(fabric: SimulatedFabric) -> None:
        texts = [each["text"] for each in choices(fabric)]
        assert {*EVENTS} <= {*texts}
        for text in texts:
            kind = "until_event" if text in EVENTS else "until_condition"
            assert (await changed(fabric, ClockChange(**{kind: text}))).playing  # type: ignore[arg-type]

    with_fabric(tmp_path, body)


def test_the_choices_of_real_servers_are_conditions_alone(tmp_path: Path) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        texts = [each["text"] for each in (await client.get("/api/conditions")).json()]
        assert texts[:2] == ["settled", "active of g1 serves"]
        assert not {*EVENTS} & {*texts}, "nobody can stop real servers at an event"
        for text in texts:
            now = await client.get("/api/conditions/now", params={"text": text})
            assert now.status_code == 200 and now.json()["holds"] == text.endswith(" is down"), text

    with_api(tmp_path, body)
