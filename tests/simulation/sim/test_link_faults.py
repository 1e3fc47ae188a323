"""Faults on links: between several ends, towards clients and coordination, clogged, healed in part."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import MILLISECOND, SECOND, WorkloadConfig, one_group
from nodes.faults.check import FaultUnsupported
from nodes.metadata.operations import Mkdir, Stat
from nodes.sim.cluster import SimCluster
from nodes.trace.events import FaultEnded
from nodes.wire.messages import AskView, CheckOperation, Message
from tests.simulation.sim.test_worlds import active, pinged, settled


def cut_links(cluster: SimCluster) -> set[tuple[str, str]]:
    return {pair for pair, link in cluster.net.links.made.items() if link.cut}


def test_several_are_cut_off_from_several_in_one_direction() -> None:
    cluster = settled()
    fault = cluster.faults.do("cut", ["mds1", "mds2"], {"others": ["mds3", "mds4"], "direction": "to"})
    wanted = {(a, b) for a in ("mds1", "mds2") for b in ("mds3", "mds4")}
    assert cut_links(cluster) == wanted
    cluster.faults.do("heal", ["mds1"], {"others": ["mds3", "mds4"]})
    assert cut_links(cluster) == {("mds2", "mds3"), ("mds2", "mds4")} and fault in cluster.faults.standing
    assert cluster.faults.heal("mds2") == fault and not cluster.faults.standing
    assert cut_links(cluster) == set()
    ended = [s.event for s in cluster.events if type(s.event) is FaultEnded]
    assert [event.fault for event in ended] == [fault]


def test_an_island_keeps_its_own_links() -> None:
    cluster = settled()
    cluster.faults.do("cut", ["mds1", "mds2"], {"island": True})
    assert ("mds1", "mds2") not in cut_links(cluster)
    assert {("mds1", "mds3"), ("mds3", "mds2"), ("coordination", "mds1")} <= cut_links(cluster)


def test_a_client_has_links_like_anybody() -> None:
    cluster = settled()
    ada = cluster.start_client("ada")
    cluster.faults.cut("ada")
    task = ada.spawn(Mkdir("/a"))
    cluster.run_for(2 * SECOND)
    assert not task.done()
    cluster.faults.heal("ada")
    cluster.run_until(task.done)
    cluster.faults.do("delay", ["ada", active(cluster)], {"ms": 300})
    began = cluster.now_ns
    ada.call(Stat("/a"))
    assert cluster.now_ns - began > 600 * MILLISECOND


def send(cluster: SimCluster, sender: str, receiver: str, *messages: Message) -> None:
    server = cluster.servers[sender]
    assert server.machine is not None and server.world is not None
    for message in messages:
        server.machine.call(server.world.network.send, receiver, message)
        cluster.run_for(10 * MILLISECOND)


def received(cluster: SimCluster, name: str) -> list[Message]:
    """Messages of the test that arrive from now on."""
    arrived: list[Message] = []
    host = cluster.net.hosts[name]
    before = host.step
    host.step = lambda peer, message: (
        arrived.append(message) if type(message) is CheckOperation else before(peer, message)
    )
    return arrived


def test_a_clogged_link_delivers_everything_in_order_when_it_opens() -> None:
    cluster = settled()
    arrived = received(cluster, "mds2")
    fault = cluster.faults.clog("mds1", "mds2", "to")
    messages = [CheckOperation("x", number) for number in range(6)]
    send(cluster, "mds1", "mds2", *messages)
    assert arrived == [] and pinged(cluster, "mds2", "mds1") == 20
    assert cluster.faults.unclog("mds1", "mds2") == fault
    cluster.run_for(MILLISECOND)
    assert arrived == messages and not cluster.faults.standing


@pytest.mark.parametrize("lost", [False, True])
def test_messages_of_one_kind_wait_while_others_travel(lost: bool) -> None:
    cluster = settled()
    arrived = received(cluster, "mds2")
    fault = cluster.faults.hold("mds1", "mds2", "CheckOperation", lost=lost)
    late = CheckOperation("x", 1)
    send(cluster, "mds1", "mds2", late)
    assert arrived == [] and pinged(cluster, "mds1", "mds2") == 20, "other kinds go through"
    send(cluster, "mds3", "mds2", CheckOperation("x", 2))
    assert arrived == [CheckOperation("x", 2)], "another link"
    assert cluster.faults.heal("mds1", "mds2") == fault
    cluster.run_for(MILLISECOND)
    assert (late in arrived) is not lost and not cluster.faults.standing


def test_one_kind_that_was_held_goes_on_by_itself() -> None:
    cluster = settled()
    arrived = received(cluster, "mds2")
    checks = cluster.faults.hold("mds1", "mds2", "CheckOperation")
    views = cluster.faults.hold("mds1", "mds2", "AskView")
    cluster.faults.cut("mds3", "mds2")
    send(cluster, "mds1", "mds2", CheckOperation("x", 1), AskView())
    cluster.faults.do("heal", ["mds1", "mds2"], {"kind": "CheckOperation"})
    cluster.run_for(MILLISECOND)
    assert CheckOperation("x", 1) in arrived and AskView() not in arrived
    assert views in cluster.faults.standing and checks not in cluster.faults.standing
    assert ("mds3", "mds2") in cut_links(cluster), "what else is wrong stays"


def test_what_a_server_sent_before_it_died_waits_in_a_clogged_link() -> None:
    cluster = settled()
    arrived = received(cluster, "mds2")
    cluster.faults.clog("mds1")
    send(cluster, "mds1", "mds2", CheckOperation("x", 1))
    cluster.faults.crash("mds1")
    cluster.run_for(SECOND)
    cluster.faults.unclog()
    cluster.run_for(MILLISECOND)
    assert arrived == [CheckOperation("x", 1)]


def test_several_clogged_links_open_in_an_order_of_the_seed() -> None:
    orders = set()
    for seed in range(6):
        cluster = settled(seed)
        arrived = received(cluster, "mds4")
        cluster.faults.do("clog", ["mds4"], {"others": ["mds1", "mds2", "mds3"], "direction": "from"})
        for number, sender in enumerate(("mds1", "mds2", "mds3")):
            send(cluster, sender, "mds4", CheckOperation(sender, number))
        cluster.faults.unclog()
        cluster.run_for(MILLISECOND)
        orders.add(tuple(message.number for message in arrived if type(message) is CheckOperation))
    assert len(orders) > 2 and all(sorted(order) == [0, 1, 2] for order in orders)


def test_a_clogged_connection_to_coordination_stalls_and_a_cut_outlives_the_clog() -> None:
    cluster = settled()
    cluster.faults.clog("mds2", "coordination")
    cluster.run_until(lambda: cluster.view()["mds2"] == "-")
    cluster.faults.cut("mds2", "coordination", "to")
    cluster.faults.unclog("mds2")
    assert cut_links(cluster) == {("mds2", "coordination")}
    cluster.faults.heal_all()
    cluster.run_until(cluster.settled)


def test_losses_delay_a_connection_to_coordination() -> None:
    cluster = settled()
    standby = next(name for name, letter in cluster.view().items() if letter == "S")
    cluster.faults.lose(standby, "coordination", share=1.0)
    cluster.run_until(lambda: cluster.view()[standby] == "-")
    cluster.faults.heal_all()
    cluster.run_until(cluster.settled)


def test_who_is_gone_never_comes_back_and_the_others_settle_without() -> None:
    cluster = SimCluster(one_group(), 1, WorkloadConfig(clients=2, rate_per_s=20))
    cluster.run_until(cluster.settled)
    lost = active(cluster)
    cluster.faults.do("gone", [lost])
    cluster.run_until(cluster.settled)
    with pytest.raises(FaultUnsupported, match="for ever"):
        cluster.faults.restart(lost)


@pytest.mark.parametrize(
    ("verb", "targets", "options"),
    [
        ("cut", ["mds1"], {"others": ["mds9"]}),
        ("cut", ["mds1", "mds2"], {"others": ["mds3"], "island": True}),
        ("clog", ["mds1", "mds1"], {}),
        ("clog", ["mds1"], {"direction": "up"}),
        ("clog", ["mds1", "mds2", "mds3", "mds4", "mds5"], {}),
        ("heal", ["mds9"], {}),
        ("delay", ["mds1"], {"share": 0.5}),
        ("gone", ["mds9"], {}),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    verb: str, targets: list[str], options: dict[str, Any]
) -> None:
    cluster = settled()
    with pytest.raises(FaultUnsupported) as caught:
        cluster.faults.do(verb, targets, options)
    assert "\n" not in str(caught.value)
