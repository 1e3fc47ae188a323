"""The simulated coordination service is three servers, like ZooKeeper's: stale followers, elections, negotiated timeouts."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from typing import Any

import pytest

from nodes.config import MILLISECOND, SECOND, one_group
from nodes.faults.check import FaultUnsupported
from nodes.sim.cluster import SimCluster
from nodes.sim.coordination import SimCoordination
from nodes.sim.ensemble import MEMBERS, SimEnsemble
from nodes.sim.links import Links
from nodes.sim.loop import Loop, Machine
from nodes.world import ConnectionLoss, CreateNode, SetNode

LIMIT_NS = 60 * SECOND


class Clients:
    """Clients of an ensemble, without servers."""

    def __init__(self, seed: int, count: int = 2, timeout_ns: int = 5 * SECOND, max_ms: int = 60_000):
        self.loop = Loop(random.Random(seed))  # type: ignore[abstract]
        self.links = Links(random.Random(seed))
        self.ensemble = SimEnsemble(self.loop, self.links, lambda event: None)
        self.ensemble.sessions.max_ms = max_ms
        self.machines = [Machine(self.loop, f"mds{i + 1}") for i in range(count)]
        self.each = [SimCoordination(self.ensemble, m, m.name, timeout_ns) for m in self.machines]
        self.run(100)

    def run(self, duration_ms: int) -> None:
        self.loop.run(self.loop.now_ns + duration_ms * MILLISECOND)

    def begin(self, client: int, procedure: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        return self.loop.create_task(procedure, context=self.machines[client].context)

    def do(self, client: int, procedure: Coroutine[Any, Any, Any]) -> Any:
        task = self.begin(client, procedure)
        self.loop.run(self.loop.now_ns + LIMIT_NS, task.done)
        return task.result()

    def place(self, client: int, member: str) -> None:
        self.ensemble.move(self.machines[client].name, member)
        self.loop.run(self.loop.now_ns + LIMIT_NS, lambda: self.placed(client, member))

    def placed(self, client: int, member: str) -> bool:
        there = self.ensemble.member_of(self.machines[client].name) == member
        return there and self.each[client].state == "connected"

    def cut(self, a: str, b: str, is_cut: bool = True) -> None:
        for way in ((a, b), (b, a)):
            self.links.of(*way).cut = is_cut
        self.ensemble.links_changed()

    def follower(self) -> str:
        leader = self.ensemble.leader
        return next(name for name in MEMBERS if leader is None or name != leader.name)

    def isolate(self, member: str, is_cut: bool = True) -> None:
        for other in MEMBERS:
            if other != member:
                self.cut(member, other, is_cut)


@pytest.mark.parametrize("seed", range(3))
def test_a_follower_that_is_cut_off_answers_reads_from_its_old_tree_for_the_sync_limit(seed: int) -> None:
    clients = Clients(seed)
    follower, leader = clients.follower(), clients.ensemble.leader
    assert leader is not None
    clients.place(0, follower)
    clients.place(1, leader.name)
    one, two = clients.each
    clients.do(1, two.multi([CreateNode("/x", b"old")]))
    clients.run(10)
    clients.isolate(follower)
    clients.do(1, two.multi([SetNode("/x", b"new")]))
    clients.run(4_000)
    assert clients.do(0, one.get("/x"))[0] == b"old"
    assert one.state == "connected"
    clients.run(6_500)
    assert clients.ensemble.member_of("mds1") != follower
    clients.run(500)
    assert clients.do(0, one.get("/x"))[0] == b"new"


@pytest.mark.parametrize("seed", range(3))
def test_a_write_or_a_sync_at_a_follower_that_is_cut_off_is_not_answered(seed: int) -> None:
    clients = Clients(seed)
    follower = clients.follower()
    clients.place(0, follower)
    clients.isolate(follower)
    asked = [
        clients.begin(0, clients.each[0].sync("/")),
        clients.begin(0, clients.each[0].multi([CreateNode("/x")])),
    ]
    clients.run(9_000)
    assert not any(each.done() for each in asked)
    clients.run(2_000)
    assert all(isinstance(each.exception(), ConnectionLoss) for each in asked)


def test_a_follower_that_is_cut_off_reports_no_client_so_its_session_ends_at_the_leader() -> None:
    clients = Clients(1)
    follower = clients.follower()
    clients.place(0, follower)
    session = clients.each[0].session
    clients.isolate(follower)
    clients.run(6_000)
    leader = clients.ensemble.leader
    assert leader is not None and session not in leader.tree.sessions.open
    assert clients.each[0].state == "connected", "the follower does not know"
    clients.run(6_000)
    assert clients.each[0].session not in (0, session)


@pytest.mark.parametrize("seed", range(3))
def test_the_leader_dies_and_the_others_go_on_with_all_that_was_committed(seed: int) -> None:
    clients = Clients(seed)
    sessions = [each.session for each in clients.each]
    for place in range(5):
        clients.do(0, clients.each[0].multi([CreateNode(f"/{place}")]))
    leader = clients.ensemble.leader
    assert leader is not None
    clients.ensemble.crash(leader.name)
    clients.run(1_500)
    assert clients.ensemble.leader not in (None, leader)
    assert [each.session for each in clients.each] == sessions
    assert clients.do(1, clients.each[1].children("/")) == [str(place) for place in range(5)]
    clients.ensemble.restart(leader.name)
    clients.run(200)
    assert leader.serving and "/4" in leader.tree.nodes


def test_a_leader_without_a_majority_commits_nothing_and_steps_down() -> None:
    clients = Clients(1)
    leader = clients.ensemble.leader
    assert leader is not None
    clients.place(0, leader.name)
    clients.isolate(leader.name)
    written = clients.begin(0, clients.each[0].multi([CreateNode("/x")]))
    clients.run(12_000)
    assert isinstance(written.exception(), ConnectionLoss)
    assert clients.ensemble.leader not in (None, leader)
    assert "/x" not in clients.ensemble.tree.nodes
    clients.isolate(leader.name, False)
    clients.run(500)
    assert (
        leader.serving
        and "/x" not in leader.tree.nodes
        and leader.logged == clients.ensemble.quorum.committed
    )


def test_one_of_three_serves_nobody() -> None:
    clients = Clients(1)
    for name in MEMBERS[:2]:
        clients.ensemble.crash(name)
    clients.run(3_000)
    assert clients.ensemble.leader is None and clients.each[0].state == "suspended"
    clients.ensemble.restart(MEMBERS[0])
    clients.run(2_000)
    assert clients.each[0].state == "connected"


def test_a_client_goes_back_to_no_server_older_than_what_it_has_seen() -> None:
    clients = Clients(1)
    follower = clients.follower()
    clients.isolate(follower)
    for place in range(3):
        clients.do(0, clients.each[0].multi([CreateNode(f"/{place}")]))
    clients.each[0].avoids = [name for name in MEMBERS if name != follower]
    clients.each[0].disconnected()
    clients.run(1_000)
    assert clients.ensemble.member_of("mds1") != follower and clients.each[0].state == "connected"


def test_a_read_after_a_write_of_the_same_client_shows_it() -> None:
    clients = Clients(3)
    clients.place(0, clients.follower())
    for place in range(20):
        clients.begin(0, clients.each[0].multi([CreateNode(f"/{place}")]))
        assert clients.do(0, clients.each[0].exists(f"/{place}")) is not None


def test_the_time_out_of_a_session_is_negotiated() -> None:
    clients = Clients(1, max_ms=2_000)
    assert clients.each[0].session_timeout_ns == 2 * SECOND
    session = clients.each[0].session
    clients.links.of("mds1", "coordination").cut = True
    clients.run(2_300)
    leader = clients.ensemble.leader
    assert leader is not None and session not in leader.tree.sessions.open


def test_loss_towards_coordination_is_delay() -> None:
    clients = Clients(1)
    clients.links.of("mds1", "coordination").lose = 0.2
    slowest = 0
    for place in range(20):
        began = clients.loop.now_ns
        clients.do(0, clients.each[0].multi([CreateNode(f"/{place}")]))
        slowest = max(slowest, clients.loop.now_ns - began)
    assert 200 * MILLISECOND <= slowest < 3 * SECOND


def settled(seed: int = 1) -> SimCluster:
    cluster = SimCluster(one_group(3), seed)
    cluster.run_until(cluster.settled)
    return cluster


def test_servers_of_the_ensemble_are_targets_of_faults() -> None:
    cluster = settled()
    faults = cluster.faults
    faults.do("crash", ["zk1"])
    with pytest.raises(FaultUnsupported, match="coordination1 is stopped"):
        faults.do("crash", ["coordination1"])
    faults.do("cut", ["coordination2", "coordination3"])
    cluster.run_for(11 * SECOND)
    assert cluster.ensemble.leader is None
    with pytest.raises(FaultUnsupported, match="no leader"):
        faults.do("take_lock", ["g1"])
    faults.do("restart", ["coordination1"])
    faults.do("heal", ["coordination"])
    assert not faults.standing
    cluster.run_until(cluster.settled)


def test_all_of_it_crashes_and_comes_back() -> None:
    cluster = settled()
    cluster.faults.crash("coordination3")
    cluster.faults.crash("coordination")
    cluster.run_for(2 * SECOND)
    cluster.faults.restart("coordination")
    assert not cluster.faults.standing
    cluster.run_for(10 * SECOND)
    cluster.run_until(cluster.settled)


def test_a_cut_from_the_service_is_one_from_all_its_servers() -> None:
    cluster = settled()
    cluster.faults.cut("mds1", "coordination")
    cluster.run_for(8 * SECOND)
    assert cluster.view()["mds1"] == "-"
    cluster.faults.heal("mds1", "coordination")
    cluster.run_until(cluster.settled)


def test_an_island_with_one_server_of_the_ensemble_keeps_its_link() -> None:
    cluster = settled()
    cluster.faults.do("cut", ["mds1", "coordination1"], {"island": True})
    links = cluster.net.links
    assert not links.of("mds1", "coordination1").cut and not links.of("mds1", "coordination").cut
    assert links.of("mds1", "coordination2").cut and links.of("coordination1", "coordination2").cut


def test_both_clocks_drift_by_server() -> None:
    cluster = settled()
    cluster.faults.do("drift_clock", ["mds1"], {"ppm": 90_000})
    cluster.faults.do("drift_clock", ["mds2"], {"ppm": -90_000})
    worlds = [cluster.servers[name].world for name in ("mds1", "mds2", "mds3")]
    clocks = [world.clock for world in worlds if world is not None]
    before = [(clock.monotonic_ns(), clock.wall_ns()) for clock in clocks]
    cluster.run_for(10 * SECOND)
    passed = [
        (clock.monotonic_ns() - at_ns, clock.wall_ns() - wall_ns)
        for clock, (at_ns, wall_ns) in zip(clocks, before, strict=True)
    ]
    assert passed == [2 * (10_900_000_000,), 2 * (9_100_000_000,), 2 * (10_000_000_000,)]
    cluster.faults.do("drift_clock", ["mds1"], {"ppm": 0})
    assert [verb for verb, _ in cluster.faults.standing.values()] == ["drift_clock"]


@pytest.mark.parametrize("ppm", [-200_000, -7, 13, 333_333])
def test_a_timer_never_goes_off_before_the_clock_says_so(ppm: int) -> None:
    cluster = settled()
    cluster.servers["mds1"].rate.run_at(ppm)
    world, machine = cluster.servers["mds1"].world, cluster.servers["mds1"].machine
    assert world is not None and machine is not None
    wrong: list[int] = []

    async def sleeps() -> None:
        for duration_ns in (1, 999, 123_456_789, SECOND):
            began = world.clock.monotonic_ns()
            await world.clock.sleep(duration_ns)
            slept = world.clock.monotonic_ns() - began
            if not duration_ns - 1 <= slept <= duration_ns + 2:
                wrong.append(slept)

    task = cluster.loop.create_task(sleeps(), context=machine.context)
    cluster.run_until(task.done)
    assert not wrong


def test_the_same_seed_is_the_same_run_with_all_of_it() -> None:
    logs = []
    for _ in range(2):
        cluster = SimCluster(one_group(3), 7)
        cluster.servers["mds2"].rate.run_at(50_000)
        cluster.ensemble.sessions.max_ms = 3_000
        cluster.run_until(cluster.settled)
        for verb, target in (("crash", "coordination2"), ("crash", "mds1"), ("restart", "mds1")):
            cluster.faults.do(verb, [target])
            cluster.run_for(7 * SECOND)
        logs.append(cluster.event_log_bytes())
    assert logs[0] == logs[1]
