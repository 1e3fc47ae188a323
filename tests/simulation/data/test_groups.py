"""Files of several groups: each group has its blocks, its map and its commands; data nodes serve all groups."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nodes.config import DataConfig, many_groups
from nodes.invariants import registry
from nodes.metadata.operations import Delete, Mkdir, Rename, Stat
from nodes.sim.cluster import SimCluster
from nodes.units import home_group
from tests.simulation.data.lab import LABS, DataLab, content
from tests.simulation.mams.lab import SETTLE_NS


class GroupsLab(DataLab):
    """Two groups of three servers over four data nodes."""

    def __init__(self, seed: int, placement: str):
        self.data_nodes = ["dn1", "dn2", "dn3", "dn4"]
        config = many_groups(2, 2, placement=placement, data=DataConfig(nodes=self.data_nodes))
        self.cluster = SimCluster(config, seed)
        self.invariants = registry.start(config)
        self.cluster.on_event(self.invariants.on_event)
        self.tasks: list[asyncio.Task[Any]] = []
        self.ada, self.eve = self.cluster.start_client("ada"), self.cluster.start_client("eve")
        self.cluster.run_until(self.cluster.settled, SETTLE_NS)
        self.faults = self.cluster.faults
        self.parts_given, self.pace_ms = 0, 5
        LABS.append(self)

    @property
    def actives(self) -> list[str]:
        return [name for name, letter in self.cluster.view().items() if letter == "A"]


@pytest.mark.parametrize("placement", ["hash", "random"])
@pytest.mark.parametrize("seed", range(2))
def test_files_of_two_groups(placement: str, seed: int) -> None:
    lab = GroupsLab(seed, placement)
    wanted = {}
    for number in range(6):
        lab.ada.call(Mkdir(f"/d{number}"))
        if number % 2:
            lab.ada.call(Mkdir(f"/d{number}/x"))
        wanted[f"/d{number}/f"] = content(number, 150_000)
        lab.put(f"/d{number}/f", wanted[f"/d{number}/f"])
    homes = {home_group(lab.eve.call(Stat(path)).result.inode) for path in wanted}  # type: ignore[union-attr]
    assert homes == {1, 2}
    groups = {home_group(int(path[7:23], 16)) for path in lab.replicas()}
    assert groups == {1, 2}
    for name in lab.actives:
        lab.faults.crash(name)
    lab.append("/d0/f", b"more")
    wanted["/d0/f"] += b"more"
    assert {path: lab.get(path) == data for path, data in wanted.items()} == dict.fromkeys(wanted, True)
    lab.mend()
    lab.until(lambda: set(lab.counts()) == {3})
    for number in range(5):
        lab.ada.call(Rename(f"/d{number}/f", f"/d{number + 1}/g"))
        assert lab.get(f"/d{number + 1}/g") == wanted[f"/d{number}/f"]
    for number in range(6):
        lab.ada.call(Delete(f"/d{number}", True))
    lab.until(lambda: lab.files_on_disks() == 0)
