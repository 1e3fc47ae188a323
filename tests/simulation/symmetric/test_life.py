"""Members that die, return, are cut off, paused, or all stopped at once; and random faults (SAA §7.3)."""

from __future__ import annotations

import pytest

from benchmarks.experiments.gaps import changes_view, gap
from nodes.config import SECOND, WorkloadConfig, one_group
from nodes.errors import FsError
from nodes.faults.check import FaultUnsupported
from nodes.metadata.operations import Create, Mkdir, Open, Stat
from nodes.sim.cluster import SimCluster
from nodes.trace.events import Delivered, FaultInjected, RoleChanged, StepTaken, Warned
from nodes.wire.messages import Refused
from tests.simulation.symmetric.lab import SymmetricLab


def test_every_member_answers_reads_and_writes() -> None:
    lab = SymmetricLab(1)
    assert lab.letters == "MMM"
    for name in lab.names:
        lab.asks(lab.ada, name)
        assert lab.ada.call(Mkdir(f"/{name}")).epoch == lab.eve.call(Stat(f"/{name}")).epoch
    lab.finish()
    assert lab.broken() == {}
    assert {status["state"] for status in lab.invariants.invariants()} == {"green"}


@pytest.mark.parametrize("order", ["fast", "plain"])
def test_both_protocols_order_what_all_members_send(order: str) -> None:
    cluster = SimCluster(
        one_group(3, protocol="symmetric", order=order), 3, WorkloadConfig(clients=8, rate_per_s=100)
    )
    for number in (2, 3):
        cluster.add_workload(
            WorkloadConfig(clients=2, rate_per_s=50, root=f"/work{number}"), f"client{number}"
        )
    cluster.run_until(cluster.settled)
    cluster.run_for(2 * SECOND)
    assert cluster.workload is not None and set(cluster.workload.counts()) == {"ok"}
    senders = {s.event.sender for s in cluster.events if type(s.event) is Delivered}
    assert len(senders) >= 2


@pytest.mark.parametrize("victims", [1, 2])
def test_clients_hardly_notice_that_members_die(victims: int) -> None:
    """No call fails, and none waits for more than 20 ms beyond the detection of the failure."""
    for seed in range(2):
        found = gap("symmetric", changes_view, "M", seed, victims)
        assert found.detection_ms < (700, 1_200)[victims - 1]
        assert found.beyond_ms <= 20 and not found.failed, found


def test_a_member_that_comes_back_has_what_it_missed() -> None:
    lab = SymmetricLab(2)
    lab.faults.crash("mds2")
    lab.await_view_of("mds1", "mds3")
    assert lab.letters in ("M-M", "MMM")
    for number in range(200):
        lab.ada.call(Mkdir(f"/d{number}"))
    lab.faults.restart("mds2")
    lab.await_view_of(*lab.names)
    lab.faults.crash("mds1")
    lab.faults.crash("mds3")
    lab.await_view_of("mds2")
    lab.asks(lab.eve, "mds2")
    lab.eve.call(Stat("/d199"))
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("verb", ["crash", "power_loss"])
def test_all_are_stopped_at_once_and_nothing_is_lost(verb: str) -> None:
    lab = SymmetricLab(3)
    for number in range(20):
        lab.begin(lab.ada, Mkdir(f"/d{number}"))
    lab.run_ms(3)
    for name in lab.names:
        lab.faults.do(verb, [name])
    lab.run_ms(2_000)
    for name in lab.names:
        lab.faults.restart(name)
        lab.run_ms(400)
    lab.finish()
    assert all(task.result().error == "" for task in lab.tasks)
    assert lab.broken() == {}


def test_one_that_comes_back_alone_waits_a_while_and_goes_on() -> None:
    """Every result that a client saw was on every member (`all_stable`)."""
    lab = SymmetricLab(4)
    lab.ada.call(Mkdir("/a"))
    for name in lab.names:
        lab.faults.crash(name)
    lab.faults.restart("mds2")
    lab.await_view_of("mds2")
    lab.ada.call(Stat("/a"))
    lab.finish()
    assert lab.letters == "MMM" and lab.broken() == {}


def test_of_five_members_two_do_not_go_on() -> None:
    lab = SymmetricLab(5, members=5)
    lab.ada.call(Mkdir("/a"))
    for name in lab.names[2:]:
        lab.faults.crash(name)
    write = lab.begin(lab.ada, Mkdir("/b"))
    lab.run_ms(5_000)
    assert not write.done()
    lab.faults.restart("mds5")
    lab.cluster.run_until(write.done)
    lab.finish()
    assert write.result().error == "" and lab.broken() == {}


def test_a_member_that_is_cut_off_fences_itself() -> None:
    lab = SymmetricLab(6)
    lab.eve.call(Mkdir("/a"))
    refused: list[str] = []
    lab.cluster.hold(
        lambda sender, receiver, message: bool(type(message) is Refused and refused.append(sender))
    )
    for other in ("mds1", "mds2"):
        lab.faults.cut("mds3", other)
    lab.await_view_of("mds1", "mds2")
    lab.run_ms(200)
    assert lab.letters == "MMJ"
    lab.eve.call(Stat("/a"))
    assert refused == ["mds3"] * len(refused) and refused
    lab.finish()
    assert lab.letters == "MMM" and lab.broken() == {}


def test_a_member_that_does_not_hear_one_other_stays_outside_without_disturbing() -> None:
    lab = SymmetricLab(7)
    lab.faults.cut("mds1", "mds3")
    lab.run_ms(5_000)
    changes = [s for s in lab.cluster.events if type(s.event) is StepTaken and s.event.step == "install"]
    assert lab.letters == "MMJ" and len(changes) <= 3
    lab.finish()
    assert lab.letters == "MMM" and lab.broken() == {}


def test_a_paused_member_answers_nothing_when_it_wakes_up() -> None:
    lab = SymmetricLab(8)
    lab.faults.pause("mds3")
    lab.await_view_of("mds1", "mds2")
    lab.ada.call(Mkdir("/a"))
    lab.faults.resume("mds3")
    lab.eve.call(Stat("/a"))
    lab.finish()
    assert lab.broken() == {}


def test_a_member_whose_disk_stands_still_is_left_behind() -> None:
    lab = SymmetricLab(9)
    lab.ada.call(Mkdir("/a"))
    lab.faults.slow_disk("mds3", ms=60_000)
    lab.ada.call(Mkdir("/b"), 10 * SECOND)
    assert lab.letters[:2] == "MM"
    lab.run_ms(1_000)
    lab.ada.call(Mkdir("/c"))


def test_the_view_changes_while_the_one_who_changes_it_dies() -> None:
    lab = SymmetricLab(10, members=4)
    lab.ada.call(Mkdir("/a"))
    write = lab.begin(lab.eve, Mkdir("/b"))
    lab.faults.crash("mds4")
    proposed = lambda: [  # noqa: E731
        s
        for s in lab.cluster.events
        if type(s.event) is StepTaken and s.event.step == "settle" and s.event.epoch > 1
    ]
    lab.cluster.run_until(lambda: bool(proposed()))
    lab.faults.crash(proposed()[0].server)
    lab.cluster.run_until(write.done, 10 * SECOND)
    lab.finish()
    assert write.result().error == "" and lab.broken() == {}


def test_a_view_that_a_person_wants_is_agreed_while_clients_work() -> None:
    lab = SymmetricLab(16)
    writes = [lab.begin(lab.ada, Mkdir(f"/d{number}")) for number in range(20)]
    lab.run_ms(1)
    fault = lab.faults.do("force_view", ["g1"])
    [reported] = [s.event for s in lab.cluster.events if type(s.event) is FaultInjected]
    assert (reported.fault, reported.verb, reported.targets) == (fault, "force_view", ["g1", "mds1"])
    lab.await_view_of(*lab.names)
    lab.finish()
    assert all(write.result().error == "" for write in writes) and lab.broken() == {}
    for name in lab.names:
        lab.faults.crash(name)
    with pytest.raises(FaultUnsupported, match="no member of g1 is there now"):
        lab.faults.force_view("g1")


def test_the_session_may_end_while_members_serve() -> None:
    lab = SymmetricLab(11)
    lab.faults.expire_session("mds1")
    lab.ada.call(Mkdir("/a"))
    lab.finish()
    roles = [s.event.role for s in lab.cluster.events if type(s.event) is RoleChanged and s.server == "mds1"]
    assert roles == ["joining", "member"] and lab.broken() == {}


def test_a_server_that_is_added_joins() -> None:
    lab = SymmetricLab(12)
    lab.ada.call(Mkdir("/a"))
    lab.faults.add_server("g1")
    lab.cluster.run_until(lambda: lab.cluster.view().get("mds4") == "M")
    lab.ada.call(Mkdir("/b"))
    lab.finish()
    assert lab.letters == "MMMM" and lab.broken() == {}


def test_a_read_is_remembered_at_one_member_until_the_next_write() -> None:
    """SAA §6: the time of the last access stays local and is carried by the next write."""
    lab = SymmetricLab(13)
    lab.ada.call(Create("/f"))
    before = lab.eve.call(Stat("/f")).result.atime_ns
    lab.run_ms(10)
    lab.ada.call(Open("/f"))
    at_reader = lab.ada.call(Stat("/f")).result.atime_ns
    assert at_reader > before == lab.eve.call(Stat("/f")).result.atime_ns
    lab.ada.call(Mkdir("/a"))
    assert lab.eve.call(Stat("/f")).result.atime_ns == at_reader
    lab.finish()
    assert lab.broken() == {}


def test_what_failed_at_one_member_fails_at_the_next() -> None:
    lab = SymmetricLab(14)
    lab.ada.call(Mkdir("/a"))
    with pytest.raises(FsError, match="EEXIST"):
        lab.eve.call(Mkdir("/a"))
    lab.finish()
    assert lab.broken() == {}


def test_nobody_is_warned_of_anything_in_peace() -> None:
    lab = SymmetricLab(15)
    lab.run_ms(5_000)
    assert not [s for s in lab.cluster.events if type(s.event) is Warned]
