"""A slow or failing disk of a real server stays so when its process restarts, as on the simulator."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from backend.fabrics.fabric import ClusterFabric
from backend.fabrics.faults import FaultInjection
from backend.fabrics.ledger import FaultLedger
from backend.picture import Picture
from nodes.config import one_group


class Fabric(ClusterFabric):
    """A fabric whose processes are names in a set."""

    kind = "processes"

    def __init__(self) -> None:
        self.home = SimpleNamespace(servers=lambda: {"mds1": "g1", "mds2": "g1"})  # type: ignore[assignment]
        self.ledger = FaultLedger(lambda event: None)
        self.picture = Picture.of(one_group(1), {}, [])
        self.rng: Any = None
        self.skews_ms = {}
        self.run = {"mds1", "mds2"}
        self.asked: list[tuple[str, dict[str, Any]]] = []

    @property
    def coordination_servers(self) -> list[str]:
        return []

    def process(self, name: str) -> Any:
        async def kill() -> None:
            self.run.discard(name)

        running = name in self.run
        state = "running" if running else "stopped"
        return SimpleNamespace(name=name, running=running, paused=False, state=state, kill=kill)

    async def start_process(self, name: str) -> None:
        self.run.add(name)

    async def ask(self, name: str, question: dict[str, Any], timeout_s: float = 2.0) -> dict[str, Any]:
        self.asked.append((name, question))
        return {}

    async def new_disk(self, name: str) -> None:
        self.run.discard(name)


def disk(slow_ms: float, fail: bool) -> dict[str, Any]:
    return {"do": "disk", "slow_ms": slow_ms, "fail": fail}


def done(*steps: tuple[str, dict[str, Any]]) -> Fabric:
    async def do() -> Fabric:
        fabric = Fabric()
        faults = FaultInjection(fabric)
        for verb, options in steps:
            await faults.do(verb, ["mds1"], options)
        return fabric

    return asyncio.run(do())


@pytest.mark.parametrize("death", ["crash", "respawn"])
def test_a_disk_is_as_bad_after_a_restart(death: str) -> None:
    ways: list[tuple[str, dict[str, Any]]] = [(death, {})] + ([("restart", {})] if death == "crash" else [])
    fabric = done(("slow_disk", {"ms": 40}), ("fail_disk", {}), *ways)
    assert fabric.asked == [("mds1", disk(40, False)), ("mds1", disk(40, True)), ("mds1", disk(40, True))]
    assert [each.verb for each in fabric.ledger.standing.values()] == ["slow_disk", "fail_disk"]


def test_it_is_mended_while_the_server_is_stopped() -> None:
    fabric = done(("fail_disk", {}), ("crash", {}), ("fail_disk", {"on": False}), ("restart", {}))
    assert fabric.asked == [("mds1", disk(0, True))]
    assert not fabric.ledger.standing


def test_another_disk_is_a_good_one() -> None:
    fabric = done(("slow_disk", {}), ("new_disk", {}), ("restart", {}))
    assert fabric.asked == [("mds1", disk(100, False))]
    assert not fabric.ledger.standing


def test_the_clock_of_a_stopped_server_is_wrong_when_it_starts() -> None:
    fabric = done(("crash", {}), ("skew_clock", {"ms": 5_000}), ("restart", {}))
    assert fabric.asked == [("mds1", {"do": "clock", "skew_ms": 5_000})]
