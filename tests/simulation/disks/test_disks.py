"""Behaviour of a group while disks are replaced, rot, and lose power."""

from __future__ import annotations

import pytest

from nodes.config import SECOND, one_group
from nodes.metadata.operations import Mkdir, Stat
from nodes.sim.cluster import SimCluster
from nodes.sim.loop import Stuck
from nodes.trace.events import Serving
from tests.simulation.mams.lab import Lab

SEEDS = range(2)
FAMILIES = ("mams", "packed-paxos")
every_family = pytest.mark.parametrize("protocol", FAMILIES)


def stat_after(lab: Lab, path: str) -> None:
    lab.finish()
    assert lab.eve.call(Stat(path)).error == ""
    assert lab.broken() == {}


@every_family
@pytest.mark.parametrize("seed", SEEDS)
def test_a_replaced_disk_is_renewed_and_counts_again(seed: int, protocol: str) -> None:
    lab = Lab(seed, standbys=2, protocol=protocol)
    lab.ada.call(Mkdir("/a"))
    active, (first, second) = lab.active, lab.standbys
    lab.faults.new_disk(first)
    lab.faults.restart(first)
    lab.run_ms(10_000)
    lab.faults.crash(second)
    lab.ada.call(Mkdir("/b"))
    lab.faults.crash(active)
    lab.faults.restart(second)
    lab.await_next_active()
    stat_after(lab, "/b")


@every_family
@pytest.mark.parametrize("seed", SEEDS)
def test_every_disk_is_replaced_one_after_the_other(seed: int, protocol: str) -> None:
    lab = Lab(seed, standbys=2, protocol=protocol)
    lab.ada.call(Mkdir("/a"))
    for name in list(lab.cluster.view()):
        lab.faults.new_disk(name)
        lab.faults.restart(name)
        lab.cluster.run_until(lambda: not lab.cluster.settled(), 20 * SECOND)
        lab.cluster.run_until(lab.cluster.settled, 60 * SECOND)
    stat_after(lab, "/a")


@every_family
@pytest.mark.parametrize("seed", SEEDS)
def test_a_rotten_tail_of_a_standby_is_renewed_under_the_same_active(seed: int, protocol: str) -> None:
    lab = Lab(seed, standbys=2, protocol=protocol)
    lab.ada.call(Mkdir("/a"))
    active, (first, second) = lab.active, lab.standbys
    lab.faults.crash(first)
    lab.faults.corrupt(first, "journal_tail")
    lab.faults.restart(first)
    lab.run_ms(3_000)
    lab.cluster.run_until(lab.cluster.settled, 60 * SECOND)
    lab.ada.call(Mkdir("/b"))
    lab.faults.crash(active)
    lab.faults.crash(second)
    lab.faults.restart(second)
    lab.await_next_active()
    stat_after(lab, "/b")


@every_family
@pytest.mark.parametrize("seed", SEEDS)
def test_after_power_loss_of_all_under_load_the_group_comes_back(seed: int, protocol: str) -> None:
    lab = Lab(seed, standbys=2, protocol=protocol)
    lab.ada.call(Mkdir("/a"))
    for name in lab.cluster.view():
        lab.faults.slow_disk(name, 5)
    for number in range(20):
        lab.begin(lab.ada, Mkdir(f"/a/{number}"))
    lab.run_ms(7 + seed)
    for name in lab.cluster.view():
        lab.faults.power_loss(name)
    lab.run_ms(6_000)
    for name in lab.cluster.view():
        lab.faults.restart(name)
    stat_after(lab, "/a")


@every_family
@pytest.mark.parametrize("seed", SEEDS)
def test_when_the_tails_of_all_have_rotted_the_group_comes_back_with_all(seed: int, protocol: str) -> None:
    lab = Lab(seed, standbys=2, protocol=protocol)
    lab.ada.call(Mkdir("/a"))
    lab.ada.call(Mkdir("/b"))
    names = list(lab.cluster.view())
    for name in names:
        lab.faults.crash(name)
        lab.faults.corrupt(name, "journal_tail")
    lab.run_ms(6_000)
    served = len(lab.serving())
    for name in names[:2]:
        lab.faults.restart(name)
    lab.run_ms(20_000)
    assert len(lab.serving()) == served, "two doubtful members of three are no read quorum"
    lab.faults.restart(names[2])
    lab.await_next_active()
    assert lab.eve.call(Stat("/a")).error == ""


@every_family
@pytest.mark.parametrize("seed", SEEDS)
def test_with_every_disk_replaced_nothing_is_served(seed: int, protocol: str) -> None:
    lab = Lab(seed, standbys=1, protocol=protocol)
    lab.ada.call(Mkdir("/a"))
    served = len(lab.serving())
    for name in lab.cluster.view():
        lab.faults.new_disk(name)
        lab.faults.restart(name)
    with pytest.raises(Stuck):
        lab.cluster.run_until(lambda: len(lab.serving()) > served, 60 * SECOND)


@pytest.mark.parametrize("at_ms", [5, 50, 500, 2_050, 2_060, 2_070, 2_080, 2_100, 2_150])
@pytest.mark.parametrize("verb", ["power_loss", "new_disk"])
@every_family
def test_a_first_start_that_is_interrupted_is_begun_again(at_ms: int, verb: str, protocol: str) -> None:
    cluster = SimCluster(one_group(2, protocol=protocol), at_ms)
    cluster.run_for(at_ms * 1_000_000)
    served = any(type(each.event) is Serving for each in cluster.events)
    names = list(cluster.servers)
    for name in names:
        cluster.faults.do("power_loss" if served else verb, [name])
    cluster.run_for(1 * SECOND)
    for name in names:
        cluster.faults.restart(name)
    cluster.run_until(cluster.settled, 60 * SECOND)
