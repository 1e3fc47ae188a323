"""Detection by journal nodes, which grant the writer's lease: how soon, when not, and what an old active may answer (safety rule 26)."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.metadata.operations import Mkdir, Stat
from nodes.replicas.messages import Granted
from nodes.trace.events import StoppedServing
from nodes.trace.lease_events import LeaseConfirmed, LeaseLost
from nodes.wire.journal_messages import StartSegment
from tests.simulation.leases.members import GRANT_MS, MembersLab, evidence, silence
from tests.simulation.leases.test_members import SOON_MS

SESSION_MS = 5_000
BOTH = pytest.mark.parametrize("protocol", ["qjm", "hadoop-ha"])


def kinds(lab: MembersLab) -> set[type]:
    return {type(each.event) for each in lab.cluster.events}


@BOTH
@pytest.mark.parametrize("fault", ["crash", "pause", "cut"])
@pytest.mark.parametrize("standbys", [1, 2])
def test_a_silent_active_is_replaced_within_a_second(protocol: str, fault: str, standbys: int) -> None:
    lab = MembersLab(1, standbys=standbys, protocol=protocol)
    lab.await_heartbeat()
    silence(lab, fault)
    assert GRANT_MS < lab.served_after_ms() < SOON_MS
    assert evidence(lab) == ["silence"]
    lab.read_while_written(500)
    lab.finish()
    assert lab.broken() == {}


@BOTH
def test_nothing_is_suspected_and_no_lease_ends_while_all_is_well(protocol: str) -> None:
    lab = MembersLab(1, protocol=protocol)
    lab.run_ms(60_000)
    assert not {LeaseLost, LeaseConfirmed} & kinds(lab) and not evidence(lab)


@BOTH
def test_one_dead_node_ends_no_lease(protocol: str) -> None:
    lab = MembersLab(1, protocol=protocol)
    lab.faults.crash("jn1")
    lab.read_while_written(5_000)
    lab.faults.restart("jn1")
    lab.run_ms(3_000)
    lab.faults.crash("jn2")
    lab.run_ms(5_000)
    assert not {LeaseLost, LeaseConfirmed} & kinds(lab) and not evidence(lab)
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("seed", range(3))
def test_a_pause_shorter_than_the_grant_ends_nothing(seed: int) -> None:
    lab = MembersLab(seed, protocol="qjm")
    lab.await_heartbeat()
    for _ in range(10):
        lab.faults.pause(lab.old)
        lab.run_ms(GRANT_MS // 2)
        lab.faults.resume(lab.old)
        lab.run_ms(GRANT_MS // 2)
    assert not evidence(lab)


@BOTH
@pytest.mark.parametrize("pause_ms", [450, 600, 1_500, 6_000])
def test_an_active_that_was_paused_answers_nothing_old(protocol: str, pause_ms: int) -> None:
    lab = MembersLab(2, standbys=1, protocol=protocol)
    lab.await_heartbeat()
    for name in lab.others:
        lab.faults.cut("eve", name)
    lab.faults.pause(lab.old)
    lab.begin(lab.ada, Mkdir("/new"))
    for _ in range(pause_ms // 50):
        lab.begin(lab.eve, Stat("/new"))
        lab.run_ms(50)
    lab.faults.resume(lab.old)
    lab.read_while_written(1_500)
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("node_pause_ms", [450, 600, 1_500])
@pytest.mark.parametrize("seed", range(3))
def test_nodes_that_were_paused_grant_nothing_late(seed: int, node_pause_ms: int) -> None:
    """They receive the heartbeats of the pause all at once, after the old active has been cut off."""
    lab = MembersLab(seed, protocol="qjm")
    lab.await_heartbeat()
    for name in lab.nodes:
        lab.faults.pause(name)
    lab.run_ms(node_pause_ms)
    for name in lab.nodes:
        lab.faults.resume(name)
    lab.run_ms(seed)
    lab.isolate()
    lab.faults.expire_session(lab.old)
    lab.read_while_written(1_500, 10)
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("deaf", [["jn1"], ["mds"], ["jn1", "mds"]])
def test_a_few_that_receive_nothing_are_outvoted(deaf: list[str]) -> None:
    """One-way silence between the active and one node, or its standbys."""
    lab = MembersLab(1, protocol="qjm")
    lab.await_heartbeat()
    for name in [*lab.nodes, *lab.others]:
        if any(name.startswith(each) for each in deaf):
            lab.faults.cut(lab.old, name, direction="to")
    lab.run_ms(3_000)
    assert not evidence(lab) and lab.leader() == lab.old


def test_one_way_silence_to_the_nodes_is_silence() -> None:
    lab = MembersLab(1, protocol="qjm")
    lab.await_heartbeat()
    for name in [*lab.nodes, *lab.others]:
        lab.faults.cut(lab.old, name, direction="to")
    assert GRANT_MS < lab.served_after_ms() < SOON_MS
    lab.read_while_written(500)
    lab.finish()
    assert lab.broken() == {}


def test_a_successor_serves_no_sooner_than_it_is_granted_the_lease() -> None:
    lab = MembersLab(1, protocol="qjm")
    lab.await_heartbeat()
    held = lab.cluster.hold(lambda sender, receiver, message: type(message) is Granted)
    lab.faults.crash(lab.old)
    lab.run_ms(SOON_MS + GRANT_MS)
    assert len(lab.serving()) == 1
    held.release()
    lab.run_ms(GRANT_MS)
    assert len(lab.serving()) == 2 and LeaseLost not in kinds(lab)
    lab.finish()
    assert lab.broken() == {}


def test_an_active_whose_grants_are_lost_gives_way() -> None:
    """The nodes receive its heartbeats, so that they never call it silent; nothing is written."""
    lab = MembersLab(1, protocol="qjm")
    lab.await_heartbeat()
    for name in lab.nodes:
        lab.faults.cut(lab.old, name, direction="from")
    lab.run_ms(GRANT_MS)
    assert SESSION_MS - GRANT_MS < lab.served_after_ms() < 2 * SESSION_MS
    assert not evidence(lab) and lab.leader() != lab.old
    lab.finish()
    assert lab.broken() == {}


def test_an_active_whose_grants_are_lost_gives_way_to_a_server_that_was_added() -> None:
    """The record of the servers does not name it, and the one that it names is dead."""
    lab = MembersLab(1, standbys=1, protocol="qjm")
    lab.faults.do("add_server", ["g1"])
    lab.run_ms(2_000)
    lab.faults.crash(lab.others[0])
    lab.run_ms(2 * SESSION_MS)
    for name in lab.nodes:
        lab.faults.cut(lab.old, name, direction="from")
    lab.run_ms(2 * SESSION_MS)
    assert lab.leader() == lab.faults.added
    lab.finish()
    assert lab.broken() == {}


def test_without_a_majority_of_nodes_the_lock_stays_where_no_other_server_is() -> None:
    lab = MembersLab(1, standbys=1, protocol="qjm")
    lab.faults.crash(lab.others[0])
    lab.run_ms(2 * SESSION_MS)
    for name in lab.nodes[:2]:
        lab.faults.crash(name)
    lab.run_ms(4 * SESSION_MS)
    assert StoppedServing not in kinds(lab) and LeaseLost in kinds(lab)
    for name in lab.nodes[:2]:
        lab.faults.restart(name)
    lab.run_ms(2_000)
    assert LeaseConfirmed in kinds(lab) and lab.leader() == lab.old
    lab.finish()
    assert lab.broken() == {}


def test_an_active_that_loses_coordination_alone_keeps_its_role_for_a_session() -> None:
    """The nodes have no part in it: they grant until the next epoch begins, and the lease of the session ends the answers."""
    lab = MembersLab(1, protocol="qjm")
    lab.await_heartbeat()
    for name in lab.others:
        lab.faults.cut("eve", name)
    lab.faults.cut(lab.old, "coordination")
    lab.read_while_written(9_000)
    assert not evidence(lab) and lab.leader() != lab.old
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("seed", range(3))
def test_a_recorded_end_excuses_waiting(seed: int) -> None:
    lab = MembersLab(seed, ends_recorded=True, protocol="qjm")
    lab.await_heartbeat()
    lab.begin(lab.ada, Mkdir("/under-way"))
    lab.faults.crash(lab.old)
    assert lab.served_after_ms() < GRANT_MS and evidence(lab) == ["death"]
    lab.finish()
    assert lab.broken() == {}


@BOTH
def test_nodes_with_new_disks_grant_again_although_nothing_is_written(protocol: str) -> None:
    """One after the other: with each, the two others are enough until its disk is recorded."""
    lab = MembersLab(1, protocol=protocol)
    lab.await_heartbeat()
    for name in lab.nodes:
        lab.faults.new_disk(name)
        lab.faults.restart(name)
        lab.run_ms(4_000)
    assert not {LeaseLost, LeaseConfirmed} & kinds(lab) and lab.leader() == lab.old
    lab.faults.crash(lab.nodes[0])
    lab.run_ms(2_000)
    assert LeaseLost not in kinds(lab)
    lab.finish()
    assert lab.broken() == {}


@BOTH
def test_a_node_that_is_down_is_not_given_a_segment_each_second(protocol: str) -> None:
    lab = MembersLab(1, protocol=protocol)
    lab.await_heartbeat()
    lab.faults.crash(lab.nodes[0])
    begun: list[str] = []

    def watched(sender: str, receiver: str, message: Any) -> bool:
        if type(message) is StartSegment and receiver == lab.nodes[1]:
            begun.append(sender)
        return False

    lab.cluster.hold(watched)
    lab.run_ms(60_000)
    assert len(begun) <= (8 if protocol == "qjm" else 31)  # Segments of hadoop-ha last two seconds.
    lab.faults.restart(lab.nodes[0])
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("restarted", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_nodes_that_restart_between_grant_and_promise_outlive_their_grants(seed: int, restarted: int) -> None:
    """With their disks, or with new ones for the first of them."""
    lab = MembersLab(seed, protocol="qjm")
    lab.await_heartbeat()
    lab.leave_behind(*lab.granters)
    for name in lab.nodes[:restarted]:
        lab.faults.crash(name)
    if restarted == 1:
        lab.faults.new_disk(lab.nodes[0])
    for name in lab.nodes[:restarted]:
        lab.faults.restart(name)
    lab.read_while_written(1_500, 10)
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("seed", range(6))
def test_two_standbys_remove_one_lock_once(seed: int) -> None:
    """Both suspect at once, and the lock that the first of them takes is not removed by the other."""
    lab = MembersLab(seed, protocol="qjm")
    lab.await_heartbeat()
    lab.faults.pause(lab.old)
    assert lab.served_after_ms() < SOON_MS
    lab.run_ms(3_000)
    assert evidence(lab) == ["silence"] and len(lab.serving()) == 2
    lab.faults.resume(lab.old)
    lab.run_ms(1_000)
    assert evidence(lab) == ["silence"]
    lab.finish()
    assert lab.broken() == {}
