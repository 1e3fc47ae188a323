"""A leader whose own disk hangs: its heartbeats go on, and yet it can commit nothing. It gives the lock to a server that can."""

from __future__ import annotations

import pytest

from nodes.config import MILLISECOND, SECOND, Timing
from nodes.metadata.operations import Mkdir
from nodes.protocols.mams.messages import Prepared
from nodes.trace.events import Serving, StoppedServing
from tests.simulation.baselines.lab import lab_of
from tests.simulation.mams.lab import Lab

HANGS_MS = 3_600_000
FAMILIES = ("mams", "2pc", "multi-paxos", "packed-paxos", "qjm", "hadoop-ha", "bookkeeper", "avatar")


def all_slow(lab: Lab, sync_ms: int) -> None:
    """Makes the disk of every server slow, when there is a directory."""
    lab.ada.call(Mkdir("/a"))
    for name in (lab.active, *lab.standbys):
        lab.faults.slow_disk(name, sync_ms)


def writes(lab: Lab, prefix: str, count: int, limit_ns: int) -> None:
    """So many writes, one after the other: each succeeds within that time."""
    for number in range(count):
        waits = lab.begin(lab.ada, Mkdir(f"/{prefix}{number}"))
        lab.cluster.run_until(waits.done, limit_ns)
        assert waits.exception() is None


@pytest.mark.parametrize("protocol", FAMILIES)
def test_a_leader_whose_disk_hangs_gives_the_lock_away(protocol: str) -> None:
    lab = lab_of(protocol, 1, standbys=3)
    lab.ada.call(Mkdir("/a"))
    hung = lab.active
    lab.faults.slow_disk(hung, HANGS_MS)
    waits = lab.begin(lab.ada, Mkdir("/b"))
    lab.cluster.run_until(waits.done, 15 * SECOND)
    assert waits.exception() is None and lab.active != hung
    lab.faults.slow_disk(hung, 0)
    lab.faults.crash(hung)
    lab.faults.restart(hung)
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("seed", range(1, 9))
@pytest.mark.parametrize("protocol", FAMILIES)
def test_a_server_whose_disk_hangs_does_not_stay_elected(protocol: str, seed: int) -> None:
    lab = lab_of(protocol, seed, standbys=4)
    lab.ada.call(Mkdir("/a"))
    for hung in lab.standbys[:2]:
        lab.faults.slow_disk(hung, HANGS_MS)
    lab.faults.expire_session(lab.active)
    waits = lab.begin(lab.ada, Mkdir("/b"))
    lab.cluster.run_until(waits.done, 40 * SECOND)
    assert waits.exception() is None


def test_a_leader_without_which_the_others_cannot_serve_stays() -> None:
    """Reads go on, and the write is carried out when the disk works again."""
    lab = lab_of("multi-paxos", 1, standbys=1)
    lab.ada.call(Mkdir("/a"))
    hung = lab.active
    lab.faults.slow_disk(hung, HANGS_MS)
    lab.run_ms(20_000)
    assert not [each for each in lab.cluster.events if isinstance(each.event, StoppedServing)]
    assert len([each for each in lab.cluster.events if isinstance(each.event, Serving)]) == 1
    assert lab.active == hung


@pytest.mark.parametrize("protocol", ("qjm", "hadoop-ha", "bookkeeper", "avatar"))
def test_a_server_that_starts_on_a_disk_that_hangs_does_not_stay_elected(protocol: str) -> None:
    """Its writer has begun no round yet: it first makes the identity of the disk durable."""
    lab = lab_of(protocol, 1)
    lab.ada.call(Mkdir("/a"))
    (hung,) = lab.standbys
    lab.faults.crash(hung)
    lab.faults.new_disk(hung)
    lab.faults.slow_disk(hung, HANGS_MS)
    lab.faults.restart(hung)
    lab.run_ms(8_000)
    lab.faults.expire_session(lab.active)
    waits = lab.begin(lab.ada, Mkdir("/b"))
    lab.cluster.run_until(waits.done, 20 * SECOND)
    assert waits.exception() is None


@pytest.mark.parametrize("protocol", ("mams", "2pc"))
def test_a_junior_that_starts_on_a_disk_that_hangs_does_not_stay_elected(protocol: str) -> None:
    """Its writer has begun no round yet: it first makes durable what the journal read back."""
    lab = lab_of(protocol, 1, standbys=3)
    lab.ada.call(Mkdir("/a"))
    hung, *others = lab.standbys
    others.append(lab.active)
    for name in (hung, *others):
        lab.faults.crash(name)
    lab.run_ms(500)
    lab.faults.slow_disk(hung, HANGS_MS)
    for name in (hung, *others):
        lab.faults.restart(name)
        lab.run_ms(300 if name == hung else 0)
    waits = lab.begin(lab.ada, Mkdir("/b"))
    lab.cluster.run_until(waits.done, 20 * SECOND)
    assert waits.exception() is None


@pytest.mark.parametrize("protocol", ("mams", "multi-paxos", "packed-paxos"))
def test_a_leader_stays_where_all_disks_are_slow_alike(protocol: str) -> None:
    """No takeover would end: its steps wait for a session's time, and each disk needs longer."""
    lab = lab_of(protocol, 1, standbys=2)
    all_slow(lab, 7_000)
    writes(lab, "b", 4, 20 * SECOND)


@pytest.mark.parametrize("slow_ms", (7_000, 12_000))
@pytest.mark.parametrize("protocol", ("bookkeeper", "backupnode"))
def test_a_group_whose_members_do_not_acknowledge_serves_on_where_all_disks_are_slow_alike(
    protocol: str, slow_ms: int
) -> None:
    """The lock goes round once at most: each server remembers that its own disk is slow, and does not hang."""
    lab = lab_of(protocol, 1, standbys=2)
    all_slow(lab, slow_ms)
    for number in range(3):
        waits = lab.begin(lab.ada, Mkdir(f"/b{number}"))
        lab.cluster.run_until(waits.done, 70 * SECOND)
    writes(lab, "c", 4, 2 * slow_ms * MILLISECOND + SECOND)
    lab.finish()
    assert lab.broken() == {}


def test_a_coordinator_stays_where_all_disks_log_decisions_slowly_alike() -> None:
    """The participants that had voted counted as ahead of it, though its own disk had the group as well."""
    lab = lab_of("2pc", 1, standbys=2, timing=Timing(ack_timeout_ms=40_000))
    all_slow(lab, 7_000)
    writes(lab, "b", 3, 50 * SECOND)
    lab.finish()
    assert lab.broken() == {}


def test_a_coordinator_whose_disk_hangs_at_a_decision_gives_the_lock_away() -> None:
    lab = lab_of("2pc", 1, standbys=2)
    lab.ada.call(Mkdir("/a"))
    hung = lab.active
    votes = lab.cluster.hold(lambda sender, receiver, message: type(message) is Prepared)
    waits = lab.begin(lab.ada, Mkdir("/b"))
    lab.run_ms(1_000)
    lab.faults.slow_disk(hung, HANGS_MS)
    votes.release()
    lab.cluster.run_until(waits.done, 50 * SECOND)
    assert waits.exception() is None and lab.active != hung


def test_an_active_without_acknowledgements_gives_the_lock_away_when_its_disk_hangs_for_long() -> None:
    lab = lab_of("backupnode", 1, standbys=2)
    lab.ada.call(Mkdir("/a"))
    hung = lab.active
    lab.faults.slow_disk(hung, HANGS_MS)
    waits = lab.begin(lab.ada, Mkdir("/b"))
    lab.cluster.run_until(waits.done, 40 * SECOND)
    assert waits.exception() is None and lab.active != hung
