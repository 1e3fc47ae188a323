"""Guarantees of the simulated world: crashes, power losses, pauses, links, sessions, unknown outcomes."""

from __future__ import annotations

import asyncio
import gc
import random
from typing import Any

import pytest

from nodes.config import MILLISECOND, SECOND, WorkloadConfig, one_group
from nodes.faults.check import FaultUnsupported, resolved, verb_named
from nodes.sim.cluster import SimCluster
from nodes.sim.disk import MediumStore, SimDisk
from nodes.sim.ensemble import SimEnsemble
from nodes.sim.links import Links
from nodes.sim.loop import Loop, Machine, Stuck
from nodes.trace.base import Event
from nodes.trace.events import Called, FaultEnded, FaultInjected, Placed, SessionEnded
from nodes.wire.messages import AskView, Request
from nodes.world import ConnectionLoss, CreateNode, NoNode


def settled(seed: int = 1, workload: WorkloadConfig | None = None, **settings: Any) -> SimCluster:
    cluster = SimCluster(one_group(**settings), seed, workload)
    cluster.run_until(cluster.settled)
    return cluster


def active(cluster: SimCluster) -> str:
    return next(name for name, letter in cluster.view().items() if letter == "A")


# --- machines ----------------------------------------------------------------------------------------------------


def spawn(loop: Loop, machine: Machine, procedure: Any) -> None:
    machine.call(lambda: loop.create_task(procedure))


def test_a_crash_runs_no_finally_and_nothing_after_it() -> None:
    loop = Loop(random.Random(1))
    machine, reported = Machine(loop, "a"), []

    async def procedure() -> None:
        try:
            await asyncio.sleep(0)
            reported.append("began")
            await loop.create_future()
        finally:
            reported.append("finally")

    spawn(loop, machine, procedure())
    loop.run(SECOND)
    machine.die()
    machine.call(lambda: reported.append("later"))
    loop.run(2 * SECOND)
    assert reported == ["began"]


def test_a_dead_life_stays_dead_when_memory_is_collected() -> None:
    cluster = settled()
    server = cluster.servers["mds2"]
    assert server.world is not None and server.machine is not None
    disk = server.world.disk

    async def procedure(disk: SimDisk = disk) -> None:
        try:
            await cluster.loop.create_future()
        finally:
            disk.open_append("ghost").append(b"boo")

    spawn(cluster.loop, server.machine, procedure())
    del disk
    procedure.__defaults__ = None
    cluster.run_for(SECOND)
    cluster.faults.crash("mds2")
    cluster.faults.restart("mds2")
    cluster.run_for(20 * SECOND)
    gc.collect()
    assert "ghost" not in server.store.files


def test_an_endless_loop_ends_the_run() -> None:
    loop = Loop(random.Random(1))
    machine = Machine(loop, "a")

    def spin() -> None:
        machine.call(spin)

    machine.call(spin)
    with pytest.raises(Stuck, match="a did"):
        loop.run(SECOND)


def test_within_a_machine_first_in_is_first_out_and_idle_comes_last() -> None:
    loop = Loop(random.Random(1))
    machine, reported = Machine(loop, "a"), []
    machine.call(
        lambda: (machine.when_idle(lambda: reported.append("idle")), machine.call(reported.append, 3))
    )
    machine.call(reported.append, 1)
    machine.call(reported.append, 2)
    loop.run(SECOND)
    assert reported == [1, 2, 3, "idle"]


def test_the_seed_chooses_among_machines() -> None:
    def order(seed: int) -> list[str]:
        loop, reported = Loop(random.Random(seed)), []
        for name in "abcdef":
            Machine(loop, name).call(reported.append, name)
        loop.run(SECOND)
        return reported

    assert order(1) == order(1)
    assert len({tuple(order(seed)) for seed in range(20)}) > 10


def test_a_paused_machine_stands_still_while_time_goes_on() -> None:
    loop = Loop(random.Random(1))
    machine, reported = Machine(loop, "a"), []
    machine.call_later(SECOND, lambda: reported.append(loop.now_ns))
    machine.pause()
    loop.run(5 * SECOND)
    assert reported == []
    machine.resume()
    loop.run(6 * SECOND)
    assert reported == [5 * SECOND]


# --- disks -------------------------------------------------------------------------------------------------------


def test_a_power_loss_keeps_what_was_synced_and_perhaps_a_part_of_the_rest() -> None:
    loop = Loop(random.Random(1))
    sizes = set()
    for seed in range(30):
        store = MediumStore(random.Random(seed))
        machine = Machine(loop, "a")
        disk = SimDisk(machine, store)

        async def write(disk: SimDisk = disk) -> None:
            file = disk.open_append("j/1")
            file.append(b"synced")
            await file.sync()
            file.append(b"lost?")
            disk.open_append("j/2").append(b"never synced")

        spawn(loop, machine, write())
        loop.run(loop.now_ns + SECOND)
        store.lose_power()
        data = disk.read("j/1")
        assert data.startswith(b"synced") and b"syncedlost?".startswith(data)
        assert disk.names("j") == ["1"]
        sizes.add(len(data))
    assert len(sizes) > 3


def test_a_failing_disk_raises_and_a_slow_one_takes_its_time() -> None:
    loop = Loop(random.Random(1))
    store, machine, reported = MediumStore(random.Random(1)), Machine(loop, "a"), []
    disk = SimDisk(machine, store)

    async def write() -> None:
        file = disk.open_append("x")
        file.append(b"1")
        store.slow_ns = SECOND
        await file.sync()
        reported.append(loop.now_ns >= SECOND)
        store.fails = True
        with pytest.raises(OSError):
            file.append(b"2")
        with pytest.raises(OSError):
            await file.sync()
        reported.append(True)

    spawn(loop, machine, write())
    loop.run(5 * SECOND)
    assert reported == [True, True]


# --- links -------------------------------------------------------------------------------------------------------


def pinged(cluster: SimCluster, sender: str, receiver: str, count: int = 20) -> int:
    """Number of `count` messages that arrive."""
    arrived: list[str] = []
    world = cluster.servers[sender].world
    host = cluster.net.hosts[receiver]
    assert world is not None
    before = host.step
    host.step = lambda peer, message: (
        arrived.append(peer) if type(message) is AskView else before(peer, message)
    )
    for _ in range(count):
        cluster.servers[sender].machine.call(world.network.send, receiver, AskView())  # type: ignore[union-attr]
        cluster.run_for(20 * MILLISECOND)
    host.step = before
    return len(arrived)


def test_a_cut_has_a_direction() -> None:
    cluster = settled()
    cluster.faults.cut("mds1", "mds2", "to")
    assert pinged(cluster, "mds1", "mds2") == 0
    assert pinged(cluster, "mds2", "mds1") == 20
    cluster.faults.heal("mds1", "mds2")
    assert pinged(cluster, "mds1", "mds2") == 20


def test_loss_and_duplication_are_shares() -> None:
    cluster = settled()
    cluster.faults.lose("mds1", "mds2", share=0.5)
    assert 10 < pinged(cluster, "mds1", "mds2", 60) < 50
    cluster.faults.heal("mds1", "mds2")
    cluster.faults.duplicate("mds1", "mds2", share=0.5)
    assert 70 < pinged(cluster, "mds1", "mds2", 60) < 115


def test_held_messages_go_on_or_are_lost() -> None:
    cluster = settled()
    client = cluster.start_client("ada")
    from nodes.metadata.operations import Mkdir

    held = cluster.hold(lambda sender, receiver, message: type(message) is Request)
    task = client.spawn(Mkdir("/a"))
    cluster.run_for(100 * MILLISECOND)
    assert not task.done() and held.messages
    held.release()
    cluster.run_until(task.done)
    assert task.result().error == ""


# --- coordination ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("direction", "most_s"), [("both", 6), ("to", 6), ("from", 12)])
def test_a_silent_server_loses_its_session_after_the_time_out(direction: str, most_s: int) -> None:
    """One that receives nothing closes its connection after two thirds of the time-out, and cannot open another one: TCP needs both ways."""
    cluster = settled()
    standby = next(name for name, letter in cluster.view().items() if letter == "S")
    began = cluster.now_ns
    cluster.faults.cut(standby, "coordination", direction=direction)
    cluster.run_until(lambda: cluster.view()[standby] == "-")
    assert 3 * SECOND < cluster.now_ns - began < most_s * SECOND
    ended = [stamped.event for stamped in cluster.events if type(stamped.event) is SessionEnded]
    assert ended[-1] == SessionEnded(standby, ended[-1].session, "expired")
    cluster.faults.heal_all()
    cluster.run_until(cluster.settled)


def test_a_lost_connection_leaves_the_outcome_of_a_write_unknown() -> None:
    outcomes: set[tuple[str, bool]] = set()
    for seed in range(40):
        loop, emitted = Loop(random.Random(seed)), []
        links = Links(random.Random(seed))

        def emit(event: Event, emitted: list[Event] = emitted) -> None:
            emitted.append(event)

        ensemble = SimEnsemble(loop, links, emit)
        machine = Machine(loop, "mds1")
        from nodes.sim.coordination import SimCoordination

        coordination = SimCoordination(ensemble, machine, "mds1", SECOND)
        reported: list[str] = []

        async def write(coordination: SimCoordination = coordination, reported: list[str] = reported) -> None:
            try:
                await coordination.multi([CreateNode("/x")])
                reported.append("done")
            except ConnectionLoss:
                reported.append("unknown")

        loop.run(100 * MILLISECOND)
        assert coordination.state == "connected"
        spawn(loop, machine, write())
        way = ("mds1", "coordination") if seed % 2 else ("coordination", "mds1")
        links.of(*way).cut = True
        loop.run(5 * SECOND)
        outcomes.add((reported[0], "/x" in ensemble.tree.nodes))
    assert outcomes == {("unknown", False), ("unknown", True)}


@pytest.mark.parametrize("fault", ["cut", "reorder"])
def test_a_connection_keeps_its_order_whatever_the_link_does(fault: str) -> None:
    from nodes.sim.coordination import SimCoordination

    loop, links = Loop(random.Random(1)), Links(random.Random(1))
    ensemble = SimEnsemble(loop, links, lambda event: None)
    machine = Machine(loop, "mds1")
    coordination = SimCoordination(ensemble, machine, "mds1", 5 * SECOND)
    link = links.of("mds1", "coordination")
    loop.run(100 * MILLISECOND)
    for place in range(8):
        spawn(loop, machine, coordination.multi([CreateNode(f"/{place}")]))
        loop.run(loop.now_ns + MILLISECOND // 100)
        setattr(link, fault, 0.9 if fault == "reorder" else True)
    loop.run(loop.now_ns + 500 * MILLISECOND)
    link.mend()
    ensemble.links_changed()
    loop.run(loop.now_ns + SECOND)
    created = sorted((node.stat().czxid, path) for path, node in ensemble.tree.nodes.items() if path != "/")
    assert [path for _, path in created] == [f"/{place}" for place in range(8)]


def test_errors_of_coordination_have_their_classes() -> None:
    cluster = settled()
    reported: list[str] = []
    server = cluster.servers["mds1"]
    assert server.world is not None and server.machine is not None

    async def ask() -> None:
        try:
            await server.world.coordination.get("/nothing")  # type: ignore[union-attr]
        except NoNode:
            reported.append("no node")

    spawn(cluster.loop, server.machine, ask())
    cluster.run_for(SECOND)
    assert reported == ["no node"]


# --- faults ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("paused", [False, True])
def test_a_respawned_server_finds_its_old_session_alive(paused: bool) -> None:
    cluster = settled(workload=WorkloadConfig(clients=2, rate_per_s=50))
    old = active(cluster)
    if paused:
        cluster.faults.pause(old)
    fault = cluster.faults.do("respawn", [old])
    assert cluster.servers[old].process == "running" and not cluster.faults.standing
    reported = [stamped.event for stamped in cluster.events]
    assert (
        FaultInjected(fault, "respawn", [old], {}) in reported
        and FaultEnded(fault, "respawn", [old]) in reported
    )
    cluster.run_for(100 * MILLISECOND)
    assert not [each for each in cluster.events if type(each.event) is SessionEnded]
    cluster.run_until(cluster.settled)
    assert cluster.view()[old] in "AS"


def test_what_is_impossible_is_said() -> None:
    cluster = settled()
    for act in (
        lambda: cluster.faults.crash("mds9"),
        lambda: cluster.faults.restart("mds1"),
        lambda: cluster.faults.resume("mds1"),
        lambda: cluster.faults.cut("mds1", "mds9"),
        lambda: cluster.faults.take_lock("g9"),
        lambda: cluster.faults.force_view("g1"),
        lambda: cluster.faults.force_view("g9"),
        lambda: cluster.faults.add_server("g9"),
        lambda: cluster.faults.force("g9", "mds1"),
        lambda: cluster.faults.force("mds9"),
        lambda: cluster.faults.do("force", []),
        lambda: cluster.faults.restart("coordination"),
        lambda: cluster.faults.cut("mds1", "mds1"),
        lambda: cluster.faults.cut("mds1", "mds2", "sideways"),
        lambda: cluster.faults.delay("mds1", "mds2", -5),
        lambda: cluster.faults.do("delay", ["mds1"], {"ms": "long"}),
        lambda: cluster.faults.lose("mds1", "mds2", 7),
        lambda: cluster.faults.corrupt("mds1", "spirit"),
        lambda: cluster.faults.do("explode", ["mds1"]),
        lambda: cluster.faults.do("_kill", ["mds1"]),
    ):
        with pytest.raises(FaultUnsupported) as caught:
            act()
        assert "\n" not in str(caught.value)


def test_the_wall_clock_may_lie_and_nothing_breaks() -> None:
    cluster = settled(workload=WorkloadConfig(clients=2, rate_per_s=20))
    cluster.faults.skew_clock(active(cluster), -3_600_000)
    cluster.run_for(3 * SECOND)
    calls = [stamped.event for stamped in cluster.events if type(stamped.event) is Called]
    assert calls and all(not call.error for call in calls)


def test_every_expiry_of_one_moment_is_reported_with_one_time() -> None:
    cluster = settled()
    standbys = [name for name, letter in cluster.view().items() if letter == "S"][:2]
    for name in standbys:
        cluster.faults.expire_session(name)
    gone = [
        s
        for s in cluster.events
        if type(s.event) is Placed and not s.event.state and s.event.server in standbys
    ]
    assert len({stamped.at_ns for stamped in gone}) == 1


def test_a_paused_server_stops_gracefully_as_a_process_does() -> None:
    """SIGTERM waits for SIGCONT: the server closes its session."""
    cluster = settled()
    name = next(name for name, letter in cluster.view().items() if letter == "S")
    cluster.faults.pause(name)
    cluster.run_for(100 * MILLISECOND)
    cluster.faults.stop(name)
    cluster.run_for(100 * MILLISECOND)
    ended = [s.event.reason for s in cluster.events if type(s.event) is SessionEnded]
    assert cluster.servers[name].process == "stopped" and ended == ["closed"]
    assert [verb for verb, _ in cluster.faults.standing.values()] == ["stop"]


def test_a_fault_reports_every_option_with_its_value() -> None:
    cluster = settled()
    name = next(name for name, letter in cluster.view().items() if letter == "S")
    cluster.faults.slow_disk(name)
    cluster.faults.corrupt(name)
    cluster.faults.power_loss(name)
    reported = {s.event.verb: s.event.options for s in cluster.events if type(s.event) is FaultInjected}
    for verb, options in reported.items():
        assert options == resolved(verb_named(verb), {}, "simulated")
