"""A full disk: one line, no loss of acknowledged writes, and service continues when there is room again."""

from __future__ import annotations

import pytest

from nodes.metadata.operations import Mkdir, Stat
from nodes.sim.disk import CAPACITY
from nodes.trace.events import Stopped
from tests.simulation.data.lab import DataLab, content
from tests.simulation.mams.lab import Lab


def fill(lab: Lab, name: str, left: int) -> None:
    store = lab.cluster.servers[name].store
    store.capacity = CAPACITY - store.free() + left


def empty(lab: Lab, name: str) -> None:
    lab.cluster.servers[name].store.capacity = CAPACITY


@pytest.mark.parametrize("letter", ["A", "S"])
@pytest.mark.parametrize("left", [0, 700])
def test_a_server_without_room_ends_and_the_others_go_on(letter: str, left: int) -> None:
    lab = Lab(31, standbys=2)
    victim = next(name for name, each in lab.cluster.view().items() if each == letter)
    fill(lab, victim, left)
    for number in range(12):
        lab.ada.call(Mkdir(f"/d{number}"))
    [stopped] = [s.event for s in lab.cluster.events if s.server == victim and type(s.event) is Stopped]
    assert "No space left" in stopped.reason and "\n" not in stopped.reason
    empty(lab, victim)
    lab.finish()
    for number in range(12):
        lab.eve.call(Stat(f"/d{number}"))
    assert lab.broken() == {}


def test_when_no_server_has_room_nothing_is_lost() -> None:
    lab = Lab(32, standbys=2)
    lab.ada.call(Mkdir("/a"))
    servers = list(lab.cluster.view())
    for name in servers:
        fill(lab, name, 300)
    tasks = [lab.begin(lab.ada, Mkdir(f"/a/{number}")) for number in range(20)]
    lab.run_ms(10_000)
    acknowledged = sum(task.done() and not task.exception() for task in tasks)
    for name in servers:
        empty(lab, name)
    lab.finish()
    assert acknowledged < 20 and all(task.exception() is None for task in tasks)
    for number in range(20):
        lab.eve.call(Stat(f"/a/{number}"))
    assert lab.broken() == {}


@pytest.mark.parametrize("left", [0, 20_000, 200_000])
def test_a_data_node_without_room_is_passed_over(left: int) -> None:
    """Also a disk that fills in the middle of a block, before the server's report."""
    lab = DataLab(33, nodes=3, standbys=2)
    lab.run_ms(3_000)
    fill(lab, "dn1", left)
    data = content(1, 400_000)
    lab.put("/f", data)
    assert lab.get("/f") == data
    node = lab.cluster.servers["dn1"]
    assert node.process == "running"
    empty(lab, "dn1")
    lab.until(lambda: set(lab.counts()) == {3} and len(lab.counts()) == 7)
    lab.finish()
    assert lab.get("/f") == data and lab.broken() == {}
