"""The invariants on simulated servers: an open hole violates one, the same schedule with the hole closed does not."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import MILLISECOND, SECOND, Holes, WorkloadConfig, one_group
from nodes.errors import FsError
from nodes.invariants import registry
from nodes.metadata.operations import Create, List, Mkdir, Stat
from nodes.sim.cluster import SimClient, SimCluster

LIMIT_NS = 120 * SECOND


class Bench:
    """A settled cluster with its invariants and a directory /d."""

    def __init__(self, holes: Holes, workload: WorkloadConfig | None = None, seed: int = 7):
        config = one_group(holes=holes)
        self.cluster = SimCluster(config, seed, workload)
        self._invariants = registry.start(config)
        self.cluster.on_event(self._invariants.on_event)
        self.settle()
        self.client = self.cluster.start_client("client8")
        self.client.call(Mkdir("/d"))

    def settle(self) -> None:
        self.cluster.run_until(self.cluster.settled, LIMIT_NS)

    @property
    def active(self) -> str:
        return next(name for name, letter in self.cluster.view().items() if letter == "A")

    @property
    def servers(self) -> list[str]:
        return list(self.cluster.view())

    def other_client(self) -> SimClient:
        other = self.cluster.start_client("client9")
        other.call(Stat("/d"))
        return other

    def invariants(self) -> dict[str, dict[str, Any]]:
        self._invariants.finish()
        return {status["invariant"]: status for status in self._invariants.invariants()}

    def red(self) -> set[str]:
        return {name for name, status in self.invariants().items() if status["state"] == "red"}


@pytest.mark.parametrize("opened", [True, False])
def test_a_stale_read_from_an_old_active(opened: bool) -> None:
    bench = Bench(Holes(no_fencing=opened))
    faults, old = bench.cluster.faults, bench.active
    other = bench.other_client()
    for name in [*bench.servers, "client9", "coordination"]:
        if name != old:
            faults.cut(old, name)
    for name in bench.servers:
        if name != old:
            faults.cut("client8", name)
    faults.take_lock("g1")
    other.call(Create("/d/x"))
    bench.client.spawn(Stat("/d/x"))
    bench.cluster.run_for(SECOND)
    faults.heal_all()
    bench.cluster.run_for(20 * SECOND)
    assert bench.red() == ({"linearisable"} if opened else set())


@pytest.mark.parametrize("opened", [True, False])
def test_an_acknowledged_write_that_no_disk_kept(opened: bool) -> None:
    """With this seed no disk has by chance written data without a sync."""
    bench = Bench(Holes(async_flush=opened), seed=11)
    faults = bench.cluster.faults
    for name in bench.servers:
        faults.slow_disk(name, ms=50)
    for number in range(5):
        bench.client.call(Create(f"/d/{number}"))
    for name in bench.servers:
        faults.power_loss(name)
    for name in bench.servers:
        faults.slow_disk(name, ms=0)
        faults.restart(name)
    bench.settle()
    try:
        bench.client.call(Stat("/d/4"))
    except FsError as error:
        assert opened and error.name == "ENOENT"
    lost = {"no lost write", "dense journal", "linearisable"}
    assert bench.red() == (lost if opened else set())


@pytest.mark.parametrize("opened", [True, False])
def test_a_read_of_what_the_next_failover_drops(opened: bool) -> None:
    bench = Bench(Holes(reads_before_flush=opened))
    old, other = bench.active, bench.other_client()
    held = bench.cluster.hold(
        lambda sender, _, message: sender == old and type(message).__name__ == "Prepare"
    )
    bench.client.spawn(Create("/d/x"))
    bench.cluster.run_for(50 * MILLISECOND)
    other.spawn(Stat("/d/x"))
    bench.cluster.run_for(50 * MILLISECOND)
    bench.cluster.faults.crash(old)
    held.drop()
    bench.cluster.run_for(30 * SECOND)
    other.call(List("/d"))
    assert bench.red() == ({"linearisable"} if opened else set())


def test_an_adopted_group_is_judged_by_its_operations() -> None:
    """All servers hold the group, none knows that it is committed, the active dies: its successor commits it."""
    bench = Bench(Holes())
    old = bench.active
    held = bench.cluster.hold(
        lambda _, receiver, message: receiver == old and type(message).__name__ == "Prepared"
    )
    task = bench.client.spawn(Create("/d/x"))
    bench.cluster.run_for(50 * MILLISECOND)
    bench.cluster.faults.crash(old)
    held.drop()
    bench.cluster.run_until(task.done, LIMIT_NS)
    bench.client.call(Stat("/d/x"))
    bench.cluster.run_for(15 * SECOND)
    invariants = bench.invariants()
    assert {status["state"] for status in invariants.values()} == {"green"}, invariants


def test_a_busy_failover_is_green() -> None:
    mix = {"create": 6.0, "mkdir": 1.0, "stat": 3.0, "list": 1.0, "rename": 1.0, "delete": 2.0}
    bench = Bench(Holes(), WorkloadConfig(clients=8, rate_per_s=200, mix=mix))
    bench.cluster.run_for(2 * SECOND)
    bench.cluster.faults.crash(bench.active)
    bench.cluster.run_for(10 * SECOND)
    invariants = bench.invariants()
    assert {status["state"] for status in invariants.values()} == {"green"}, invariants
    assert invariants["linearisable"]["checked"] > 1000
