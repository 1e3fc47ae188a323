"""The clusters of mechanisms: few at once, and the one whose page was left longest ago makes room."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from backend.errors import Impossible, NotThere
from backend.papers import service
from backend.papers.service import CLUSTERS_MAX, IDLE_S, PaperClusters
from nodes.config import ClusterConfig, WorkloadConfig


class SmallFleet:
    """Clusters that do nothing."""

    def __init__(self) -> None:
        self.labs: dict[str, Any] = {}
        self.loads: list[WorkloadConfig] = []

    async def create_exactly(self, name: str, config: ClusterConfig, seed: int, load: WorkloadConfig) -> Any:
        await asyncio.sleep(0)
        self.loads.append(load)
        self.labs[name] = SimpleNamespace(fabric=SimpleNamespace(settled=lambda: True, trouble=""))
        return self.labs[name]

    def find(self, name: str) -> Any:
        return self.labs.get(name)

    async def delete(self, name: str) -> None:
        await asyncio.sleep(0)
        del self.labs[name]


class Now:
    def __init__(self) -> None:
        self.s = 1_000.0

    def monotonic(self) -> float:
        return self.s


Body = Callable[[PaperClusters, SmallFleet, Now], Awaitable[None]]


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Callable[[Body], None]:
    now, fleet = Now(), SmallFleet()
    monkeypatch.setattr(service, "time", now)
    clusters = PaperClusters(fleet)  # type: ignore[arg-type]
    return lambda body: asyncio.run(body(clusters, fleet, now))  # type: ignore[arg-type]


def test_a_cluster_has_the_mechanisms_load(played: Callable[[Body], None]) -> None:
    async def body(clusters: PaperClusters, fleet: SmallFleet, now: Now) -> None:
        opened = await clusters.open("dcfs3", "packing")
        assert opened.name.startswith("paper-") and (opened.paper, opened.mechanism) == ("dcfs3", "packing")
        assert opened.settled and fleet.loads[0].rate_per_s == 5.0
        assert clusters.view(opened.name) == opened

    played(body)


def test_two_readers_have_a_cluster_each(played: Callable[[Body], None]) -> None:
    async def body(clusters: PaperClusters, fleet: SmallFleet, now: Now) -> None:
        both = await asyncio.gather(clusters.open("cfs", "roles"), clusters.open("cfs", "roles"))
        assert len({each.name for each in both}) == 2

    played(body)


def test_one_that_was_left_makes_room(played: Callable[[Body], None]) -> None:
    async def body(clusters: PaperClusters, fleet: SmallFleet, now: Now) -> None:
        names = [(await clusters.open("cfs", "roles")).name for _ in range(CLUSTERS_MAX)]
        with pytest.raises(Impossible, match="in use"):
            await clusters.open("cfs", "roles")
        now.s += IDLE_S
        for name in names[1:]:
            clusters.view(name)
        await clusters.open("cfs", "roles")
        assert names[0] not in fleet.labs and len(fleet.labs) == CLUSTERS_MAX
        with pytest.raises(NotThere, match="start it again"):
            clusters.view(names[0])

    played(body)


def test_one_that_a_person_deleted_is_forgotten(played: Callable[[Body], None]) -> None:
    async def body(clusters: PaperClusters, fleet: SmallFleet, now: Now) -> None:
        names = [(await clusters.open("cfs", "roles")).name for _ in range(CLUSTERS_MAX)]
        await fleet.delete(names[3])
        with pytest.raises(NotThere):
            clusters.view(names[3])
        await clusters.open("cfs", "roles")
        assert len(fleet.labs) == CLUSTERS_MAX

    played(body)


def test_a_wrong_mechanism_starts_nothing(played: Callable[[Body], None]) -> None:
    async def body(clusters: PaperClusters, fleet: SmallFleet, now: Now) -> None:
        with pytest.raises(NotThere):
            await clusters.open("cfs", "none")
        assert not fleet.labs

    played(body)
