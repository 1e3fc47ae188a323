"""Faults that take effect exactly before or after an action of a server."""

from __future__ import annotations

import pytest

from nodes.config import MILLISECOND, SECOND, WorkloadConfig, one_group
from nodes.faults.check import FaultUnsupported
from nodes.metadata.operations import Mkdir
from nodes.protocols.mams.messages import Prepare
from nodes.sim.cluster import SimCluster
from nodes.sim.triggers import Armed, Trigger
from nodes.trace.events import StepTaken
from nodes.trace.present import Caused
from nodes.wire.messages import Answer, Message
from tests.simulation.sim.test_worlds import active, settled


def apply_fault(cluster: SimCluster, trigger: Trigger, verb: str = "crash", victim: str = "") -> Armed:
    return cluster.triggers.arm(trigger, lambda: cluster.faults.do(verb, [victim or trigger.server]))


def sent(cluster: SimCluster, kind: type[Message]) -> list[tuple[str, str]]:
    """(sender, receiver) of all messages of a kind that leave from now on."""
    reported: list[tuple[str, str]] = []
    carry = cluster.net._carry

    def watched(sender: str, receiver: str, caused: Caused) -> None:
        reported.extend((sender, receiver) for message in caused[0] if type(message) is kind)
        carry(sender, receiver, caused)

    cluster.net._carry = watched  # type: ignore[method-assign]
    return reported


def fresh(cluster: SimCluster, path: str = "/a") -> None:
    """Runs a write until its triggered fault has taken effect."""
    cluster.start_client("ada").spawn(Mkdir(path))
    cluster.run_for(SECOND)


def test_after_a_sync_it_is_durable_and_the_server_has_not_received_so() -> None:
    cluster = settled()
    leader = active(cluster)
    store, answered = cluster.servers[leader].store, sent(cluster, Answer)
    size = store.used()
    armed = apply_fault(cluster, Trigger("sync", leader, 1, "after", "journal"), "power_loss")
    fresh(cluster)
    assert armed.fired_ns > 0 and cluster.servers[leader].process == "stopped"
    assert (leader, "ada") not in answered and store.used() > size


def test_before_a_sync_nothing_of_it_is_durable() -> None:
    left = set()
    for seed in range(12):
        cluster = settled(seed)
        leader = active(cluster)
        store = cluster.servers[leader].store
        size = store.used()
        cluster.triggers.arm(
            Trigger("sync", leader, 1, "before"),
            lambda cluster=cluster, leader=leader: cluster.faults.do(
                "power_loss", [leader], {"torn": "nothing"}
            ),
        )
        fresh(cluster)
        left.add(store.used() - size)
    assert left == {0}


@pytest.mark.parametrize("when", ["before", "after"])
def test_at_a_write_to_coordination(when: str) -> None:
    cluster = settled()
    leader = active(cluster)
    standby = next(name for name, letter in cluster.view().items() if letter == "S")
    writes = cluster.ensemble.tree.zxid
    armed = apply_fault(cluster, Trigger("write", standby, 1, when, "lock"))
    others = [name for name in cluster.view() if name not in (leader, standby)]
    cluster.faults.crash(leader)
    for name in others:
        cluster.faults.pause(name)
    cluster.run_until(lambda: armed.fired_ns > 0)
    held = cluster.ensemble.observer.holders.get("g1", "")
    assert held == (standby if when == "after" else "")
    assert cluster.servers[standby].process == "stopped" and cluster.ensemble.tree.zxid > writes
    cluster.faults.do("resume", others)
    cluster.faults.do("restart", [leader, standby])
    cluster.run_until(cluster.settled)


@pytest.mark.parametrize(("when", "leaves"), [("before", 2), ("after", 3)])
def test_at_a_message_that_is_sent(when: str, leaves: int) -> None:
    cluster = settled()
    leader = active(cluster)
    reported = sent(cluster, Prepare)
    armed = apply_fault(cluster, Trigger("sent", leader, 3, when, "Prepare"))
    fresh(cluster)
    assert armed.fired_ns > 0
    assert len([sender for sender, _ in reported if sender == leader]) == leaves


@pytest.mark.parametrize(("when", "handled"), [("before", 0), ("after", 1)])
def test_at_a_message_that_is_delivered(when: str, handled: int) -> None:
    cluster = settled()
    leader = active(cluster)
    standby = next(name for name, letter in cluster.view().items() if letter == "S")
    host, seen = cluster.net.hosts[standby], list[Message]()
    before = host.step
    host.step = lambda peer, message: (
        seen.append(message) if type(message) is Prepare else None,
        before(peer, message),
    )[1]
    armed = apply_fault(cluster, Trigger("delivered", leader, 1, when, "Prepare", standby), victim=standby)
    fresh(cluster)
    assert armed.fired_ns > 0 and len(seen) == handled
    assert cluster.servers[standby].process == "stopped"


def test_a_paused_receiver_handles_the_message_when_it_goes_on() -> None:
    cluster = settled()
    ada = cluster.start_client("ada")
    leader = active(cluster)
    armed = apply_fault(cluster, Trigger("delivered", "ada", 1, "before", "Request", leader), "pause", leader)
    task = ada.spawn(Mkdir("/a"))
    cluster.run_for(100 * MILLISECOND)
    assert armed.fired_ns > 0 and not task.done()
    cluster.faults.resume(leader)
    cluster.run_until(task.done)
    assert task.result().error == ""


def test_after_a_step_and_nothing_that_it_says_is_received() -> None:
    cluster = settled()
    standbys = [name for name, letter in cluster.view().items() if letter == "S"]
    armed = [apply_fault(cluster, Trigger("step", name, 1, name="upgrade/2")) for name in standbys]
    cluster.faults.crash(active(cluster))
    cluster.run_until(lambda: any(each.fired_ns > 0 for each in armed))
    [faulted] = [each.trigger.server for each in armed if each.fired_ns > 0]
    cluster.run_for(MILLISECOND)
    last = [stamped.event for stamped in cluster.events if stamped.server == faulted][-1]
    assert type(last) is StepTaken and cluster.servers[faulted].process == "stopped"
    for each in armed:
        cluster.triggers.disarm(each)
    cluster.run_until(lambda: "A" in cluster.view().values())


def test_an_ordinal_counts_over_the_lives_of_a_server() -> None:
    cluster = settled()
    standby = next(name for name, letter in cluster.view().items() if letter == "S")
    armed = apply_fault(cluster, Trigger("sync", standby, 3, "after", "journal"))
    fresh(cluster, "/a")
    assert armed.seen >= 1
    seen = armed.seen
    if armed.fired_ns < 0:
        cluster.faults.crash(standby)
        cluster.faults.restart(standby)
        cluster.run_until(cluster.settled)
        cluster.start_client("eve").spawn(Mkdir("/b"))
        cluster.run_for(10 * SECOND)
    assert armed.fired_ns > 0 and armed.seen == 3 >= seen


def test_a_trigger_that_does_not_fire_changes_nothing() -> None:
    logs = []
    for kinds in ((), ("sync", "write", "sent", "delivered", "step")):
        cluster = SimCluster(one_group(), 3, WorkloadConfig(clients=2, rate_per_s=20))
        for kind in kinds:
            for name in cluster.view():
                apply_fault(cluster, Trigger(kind, name, 1_000_000))
        cluster.run_until(5 * SECOND)
        logs.append(cluster.event_log_bytes())
    assert logs[0] == logs[1]


def test_what_an_act_cannot_do_is_kept_and_hurts_nobody() -> None:
    cluster = settled()
    armed = apply_fault(cluster, Trigger("sync", active(cluster)), "restart")
    fresh(cluster)
    assert armed.refused and cluster.servers[active(cluster)].process == "running"


@pytest.mark.parametrize(
    "wrong",
    [
        Trigger("spirit", "mds1"),
        Trigger("sync", "mds1", 0),
        Trigger("sync", "mds1", when="during"),
        Trigger("step", "mds1", when="before"),
    ],
)
def test_a_trigger_that_cannot_be_is_refused(wrong: Trigger) -> None:
    cluster = settled()
    with pytest.raises(FaultUnsupported) as caught:
        apply_fault(cluster, wrong)
    assert "\n" not in str(caught.value)
