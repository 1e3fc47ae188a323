"""Detection by the members of a group: how soon, and when not (safety rule 26)."""

from __future__ import annotations

import pytest

from nodes.config import MILLISECOND
from nodes.metadata.operations import Mkdir, Stat
from nodes.sim.loop import Stuck
from nodes.trace.lease_events import LeaseConfirmed, LeaseLost
from tests.simulation.leases.members import GRANT_MS, MembersLab, evidence, silence

SOON_MS = 700


@pytest.mark.parametrize("fault", ["crash", "pause", "cut"])
@pytest.mark.parametrize("standbys", [2, 3])
def test_a_silent_active_is_replaced_within_a_second(fault: str, standbys: int) -> None:
    lab = MembersLab(1, standbys=standbys)
    lab.await_heartbeat()
    silence(lab, fault)
    assert GRANT_MS < lab.served_after_ms() < SOON_MS
    assert evidence(lab) == ["silence"]
    lab.read_while_written(500)
    lab.finish()
    assert lab.broken() == {}


def test_who_knows_that_it_has_stopped_is_not_waited_for() -> None:
    lab = MembersLab(1)
    lab.run_ms(500)
    lab.faults.take_lock("g1")
    assert lab.served_after_ms() < 100


def test_nothing_is_suspected_and_no_lease_ends_while_all_is_well() -> None:
    lab = MembersLab(1, standbys=3)
    lab.run_ms(60_000)
    kinds = {type(each.event) for each in lab.cluster.events}
    assert not {LeaseLost, LeaseConfirmed} & kinds and not evidence(lab)


@pytest.mark.parametrize("seed", range(3))
def test_a_pause_shorter_than_the_grant_ends_nothing(seed: int) -> None:
    lab = MembersLab(seed, standbys=3)
    lab.await_heartbeat()
    for _ in range(10):
        lab.faults.pause(lab.old)
        lab.run_ms(GRANT_MS // 2)
        lab.faults.resume(lab.old)
        lab.run_ms(GRANT_MS // 2)
    assert not evidence(lab)


@pytest.mark.parametrize("pause_ms", [450, 600, 1_500, 6_000])
def test_an_active_that_was_paused_answers_nothing_old(pause_ms: int) -> None:
    lab = MembersLab(2, standbys=2)
    lab.await_heartbeat()
    for name in lab.others:
        lab.faults.cut("eve", name)
        lab.faults.cut(lab.old, name)
    lab.faults.pause(lab.old)
    lab.begin(lab.ada, Mkdir("/new"))
    for _ in range(pause_ms // 50):
        lab.begin(lab.eve, Stat("/new"))
        lab.run_ms(50)
    lab.faults.resume(lab.old)
    lab.read_while_written(1_500)
    lab.finish()
    assert lab.broken() == {}


def test_a_member_that_hears_nothing_is_outvoted() -> None:
    """One-way silence between the active and one of three others."""
    lab = MembersLab(1, standbys=3)
    lab.await_heartbeat()
    lab.faults.cut(lab.old, lab.others[0], direction="to")
    lab.run_ms(2_000)
    assert not evidence(lab) and lab.leader() == lab.old


def test_without_grants_nothing_is_answered_although_the_session_lasts() -> None:
    """The members' acknowledgements are lost; their links to the active alone are cut."""
    lab = MembersLab(1, standbys=2)
    lab.await_heartbeat()
    for name in lab.others:
        lab.faults.cut(lab.old, name, direction="from")
    lab.run_ms(GRANT_MS)
    began_ns = lab.cluster.now_ns
    task = lab.begin(lab.eve, Stat("/"))
    with pytest.raises(Stuck):
        lab.cluster.run_until(task.done, 1_500 * MILLISECOND)
    lab.finish()
    assert lab.cluster.now_ns > began_ns and lab.broken() == {}


def test_a_forced_takeover_waits_for_the_lease_of_the_session() -> None:
    """Two of three members are gone, so no read quorum promises."""
    lab = MembersLab(1, standbys=2)
    lab.await_heartbeat()
    last = lab.others[0]
    lab.faults.crash(lab.others[1])
    lab.isolate()
    lab.faults.cut(lab.old, last)
    lab.faults.expire_session(lab.old)
    began_ns = lab.cluster.now_ns
    lab.run_ms(200)
    lab.cluster.ask(last, {"do": "force"})
    lab.cluster.run_until(lambda: lab.leader() == last and len(lab.serving()) > 1, 60_000 * MILLISECOND)
    assert lab.cluster.now_ns - began_ns > 3_000 * MILLISECOND
    lab.finish()


@pytest.mark.parametrize("seed", range(3))
def test_a_recorded_end_excuses_waiting(seed: int) -> None:
    lab = MembersLab(seed, ends_recorded=True)
    lab.await_heartbeat()
    lab.begin(lab.ada, Mkdir("/under-way"))
    lab.faults.crash(lab.old)
    assert lab.served_after_ms() < GRANT_MS and evidence(lab) == ["death"]
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("seed", range(3))
def test_the_end_of_a_standby_removes_no_lock(seed: int) -> None:
    lab = MembersLab(seed, standbys=3, ends_recorded=True)
    lab.faults.crash(lab.others[0])
    lab.run_ms(2_000)
    assert not evidence(lab) and lab.leader() == lab.old
