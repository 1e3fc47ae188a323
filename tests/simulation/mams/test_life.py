"""Renewing, growth, disks that fail, groups that are too small; and random faults."""

from __future__ import annotations

import pytest

from nodes.config import SECOND, WorkloadConfig, one_group
from nodes.metadata.operations import Mkdir, Stat
from nodes.sim.cluster import SimCluster
from nodes.trace.events import Configured, JournalCorrupt, Renewing, Stamped, StepTaken, Stopped, Warned
from tests.simulation.mams.lab import Lab

MIX: dict[str, float] = {"create": 5, "mkdir": 1, "stat": 3, "rename": 1, "delete": 1, "list": 1}


def phases(cluster: SimCluster, server: str) -> list[str]:
    return [s.event.phase for s in cluster.events if s.server == server and type(s.event) is Renewing]


def busy(seconds: int, image_gap: int) -> tuple[SimCluster, str]:
    """A cluster under load, one standby of which was down for so long and is in step again."""
    cluster = SimCluster(
        one_group(image_gap=image_gap), 5, WorkloadConfig(clients=8, rate_per_s=300, mix=MIX)
    )
    cluster.run_until(cluster.settled)
    standby = next(name for name, letter in cluster.view().items() if letter == "S")
    cluster.faults.crash(standby)
    cluster.run_for(seconds * SECOND)
    cluster.faults.restart(standby)
    cluster.run_until(lambda: cluster.view()[standby] == "S", 60 * SECOND)
    return cluster, standby


def test_a_junior_far_behind_reads_the_journal() -> None:
    cluster, standby = busy(8, image_gap=100_000)
    assert "journal" in phases(cluster, standby) and "image" not in phases(cluster, standby)
    assert phases(cluster, standby)[-1] == "done"


def test_a_junior_very_far_behind_reads_the_image_first() -> None:
    cluster, standby = busy(8, image_gap=600)
    assert phases(cluster, standby)[0] == "image"
    cluster.faults.crash(standby)
    cluster.faults.restart(standby)
    cluster.run_until(lambda: cluster.view()[standby] == "J", 60 * SECOND)
    cluster.run_until(cluster.settled, 60 * SECOND)


def test_a_server_added_at_run_time_counts_in_n() -> None:
    lab = Lab(1)
    lab.ada.call(Mkdir("/a"))
    lab.faults.add_server("g1")
    lab.cluster.run_until(lambda: lab.cluster.view().get("mds5") == "S", 60 * SECOND)
    configured = [s.event for s in lab.cluster.events if type(s.event) is Configured][-1]
    assert sorted(configured.members) == ["mds1", "mds2", "mds3", "mds4", "mds5"]
    lab.faults.crash(lab.active)
    lab.await_next_active()
    lab.eve.call(Stat("/a"))
    lab.finish()
    assert lab.broken() == {}


def test_a_corrupt_journal_is_kept_aside_and_its_server_renewed() -> None:
    lab = Lab(2)
    for number in range(20):
        lab.ada.call(Mkdir(f"/d{number}"))
    victim = lab.standbys[0]
    lab.faults.crash(victim)
    lab.faults.corrupt(victim, "journal")
    lab.faults.restart(victim)
    lab.run_ms(1_000)
    reported = [s.event for s in lab.cluster.events if s.server == victim and type(s.event) is JournalCorrupt]
    assert reported and reported[0].file.startswith("journal/")
    warned = [s.event.what for s in lab.cluster.events if s.server == victim and type(s.event) is Warned]
    assert "moved to aside/damaged-01" in warned[0] and "does not count before it is renewed" in warned[0]
    files = lab.cluster.servers[victim].store.files
    assert f"aside/damaged-01/{reported[0].file}" in files
    lab.ada.call(Mkdir("/more"))
    lab.finish()
    assert "unfit" not in files and lab.cluster.view()[victim] == "S"
    assert lab.broken() == {}


def test_a_torn_tail_is_cut_and_repaired_from_the_others() -> None:
    lab = Lab(2)
    for number in range(5):
        lab.ada.call(Mkdir(f"/d{number}"))
    victim = lab.standbys[0]
    lab.faults.crash(victim)
    lab.faults.corrupt(victim, "journal_tail")
    lab.faults.restart(victim)
    lab.run_ms(1_000)
    lab.finish()
    assert lab.broken() == {}


def test_a_failing_disk_ends_the_active_and_another_takes_over() -> None:
    lab = Lab(3)
    lab.ada.call(Mkdir("/a"))
    old = lab.active
    lab.faults.fail_disk(old)
    task = lab.begin(lab.ada, Mkdir("/b"))
    lab.await_next_active()
    stopped = [s.event for s in lab.cluster.events if s.server == old and type(s.event) is Stopped]
    assert stopped and "error" in stopped[0].reason.lower()
    lab.finish()
    assert task.result().error == "" and lab.broken() == {}


def test_too_few_members_for_the_flush_are_a_step_of_their_own() -> None:
    """Two of four members are a read quorum, and become a write quorum when the others have left."""
    lab = Lab(1, standbys=3)
    lab.faults.crash(lab.standbys[0])
    lab.faults.crash(lab.active)
    lab.await_next_active()
    taken = [
        each.event for each in lab.cluster.events if type(each.event) is StepTaken and each.event.epoch == 2
    ]
    names = [f"{event.procedure} {event.step}".strip() for event in taken]
    wanted = ["upgrade 4", "upgrade 4b", "configuration both", "shrink", "upgrade 5", "upgrade 6"]
    assert [name for name in names if name in wanted] == wanted


@pytest.mark.parametrize("standbys", [3, 0])
@pytest.mark.parametrize("step", ["2", "3b", "4", "5"])
def test_an_elected_that_cannot_say_that_it_gives_up_does_not_keep_the_lock(standbys: int, step: str) -> None:
    """Its connection is suspended while it upgrades, and restored before its session ends."""
    lab = Lab(6, standbys=standbys)
    elected: list[str] = []

    def cut(stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is StepTaken and (event.procedure, event.step) == ("upgrade", step) and not elected:
            elected.append(stamped.server)
            lab.faults.cut(stamped.server, "coordination")

    lab.cluster.on_event(cut)
    lab.faults.crash(lab.active)
    if not standbys:
        lab.faults.restart("mds1")
    lab.cluster.run_until(lambda: bool(elected), 30 * SECOND)
    session = lab.cluster.coordination_of(elected[0])
    lab.cluster.run_until(lambda: session.state == "suspended", 10 * SECOND)
    lab.faults.heal_all()
    lab.await_next_active()
    lab.finish()
    assert lab.broken() == {}


def test_below_its_smallest_size_a_group_answers_reads_only() -> None:
    lab = Lab(4, min_in_step=3)
    lab.ada.call(Mkdir("/a"))
    lab.eve.call(Stat("/a"))
    lab.run_ms(100)
    crashed = lab.standbys[:2]
    for name in crashed:
        lab.faults.crash(name)
    lab.run_ms(12_000)
    write = lab.begin(lab.ada, Mkdir("/b"))
    lab.run_ms(2_000)
    for _ in range(3):
        lab.eve.call(Stat("/a"), 3 * SECOND)
        assert "ENOENT" in str(lab.begin_and_wait(lab.eve, Stat("/b")).exception())
    assert not write.done()
    for name in crashed:
        lab.faults.restart(name)
    lab.cluster.run_until(write.done, 30 * SECOND)
    lab.eve.call(Stat("/b"))
    lab.finish()
    assert write.result().error == "" and lab.broken() == {}


def test_clients_find_an_active_that_was_added_after_they_began() -> None:
    lab = Lab(1)
    lab.ada.call(Mkdir("/a"))
    lab.faults.add_server("g1")
    for number in range(20):
        lab.cluster.run_until(
            lambda: lab.cluster.settled() and lab.cluster.view()["mds5"] in "AS", 60 * SECOND
        )
        if lab.active == "mds5":
            break
        old = lab.active
        lab.faults.crash(old)
        lab.await_next_active()
        lab.ada.call(Mkdir(f"/a/{number}"))
        lab.faults.restart(old)
    assert lab.active == "mds5"
    lab.ada.call(Mkdir("/b"))
    lab.finish()
    assert lab.broken() == {}
