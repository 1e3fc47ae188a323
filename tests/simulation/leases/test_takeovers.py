"""Start of the next active's service: not before the old active's lease may be over, and no later than necessary (safety rule 16)."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import MILLISECOND, SECOND
from nodes.coordination.operations import DeleteZnode
from nodes.coordination.tree import OPERATOR
from nodes.metadata.operations import Mkdir, Stat
from nodes.sim.ensemble import MEMBERS
from tests.simulation.leases.lab import LOCKED, Lab

SOME = ("mams", "packed-paxos", "qjm")
SESSION_MS = 5_000
SOON_MS = 1_500


@pytest.mark.parametrize("protocol", LOCKED)
@pytest.mark.parametrize("fault", ["take_lock", "expire_session", "stop"])
def test_who_knows_that_it_has_stopped_is_not_waited_for(protocol: str, fault: str) -> None:
    lab = Lab(1, protocol)
    lab.faults.do(fault, ["g1" if fault == "take_lock" else lab.old])
    assert lab.served_after_ms() < SOON_MS
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", LOCKED)
@pytest.mark.parametrize("seed", range(2))
def test_after_a_time_out_of_the_session_nothing_is_waited_for(protocol: str, seed: int) -> None:
    lab = Lab(seed, protocol)
    lab.await_heartbeat()
    lab.faults.crash(lab.old)
    assert lab.served_after_ms() < SESSION_MS + 1_000


@pytest.mark.parametrize("protocol", SOME)
def test_one_that_starts_again_at_once_is_not_waited_for(protocol: str) -> None:
    lab = Lab(1, protocol)
    lab.faults.crash(lab.old)
    lab.faults.restart(lab.old)
    assert lab.served_after_ms() < SOON_MS


@pytest.mark.parametrize("protocol", SOME)
@pytest.mark.parametrize("pause_ms", [300, 3_000, 4_900, 5_400, 9_000])
def test_an_active_that_was_paused_answers_nothing_old(protocol: str, pause_ms: int) -> None:
    lab = Lab(2, protocol)
    lab.await_heartbeat()
    lab.faults.cut("eve", lab.others[0])
    lab.faults.cut("eve", lab.others[1])
    for name in lab.others:
        lab.faults.cut(lab.old, name)
    lab.faults.pause(lab.old)
    lab.faults.expire_session(lab.old)
    lab.begin(lab.ada, Mkdir("/new"))
    for _ in range(pause_ms // 100):
        lab.begin(lab.eve, Stat("/new"))
        lab.run_ms(100)
    lab.faults.resume(lab.old)
    lab.read_while_written(1_500)
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", SOME)
@pytest.mark.parametrize("seed", range(3))
def test_a_confirmation_whose_outcome_is_unknown_is_waited_for_when_it_was_seen(
    protocol: str, seed: int
) -> None:
    """The write takes effect although its writer never learns of it; the writer's lease is shorter, the wait is longer."""
    lab = Lab(seed, protocol)
    lab.await_heartbeat()
    lab.faults.cut(lab.old, "coordination", direction="from")
    before = lab.confirmations(lab.old)
    lab.run_ms(2_500)
    assert lab.confirmations(lab.old) == before + 1
    lab.isolate()
    lab.faults.expire_session(lab.old)
    lab.read_while_written(4_500)
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", SOME)
@pytest.mark.parametrize("seed", range(3))
def test_two_takeovers_in_a_row_hide_nobody(protocol: str, seed: int) -> None:
    """The lease that counts is not that of an elected server that never served."""
    lab = Lab(seed, protocol, standbys=3)
    lab.await_heartbeat()
    lab.isolate()
    epoch = max(each.event.epoch for each in lab.serving())  # type: ignore[union-attr]
    lab.faults.expire_session(lab.old)
    for number in (1, 2):
        lab.cluster.run_until(lambda number=number: lab.elected(epoch + number), 10 * SECOND)  # type: ignore[misc]
        lab.cluster.ensemble.submit(OPERATOR, DeleteZnode("/cloverlab/groups/g1/lock"))
    lab.read_while_written(5_000)
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", SOME)
@pytest.mark.parametrize("seed", range(3))
def test_a_server_that_starts_during_the_takeover_waits_from_its_own_start(protocol: str, seed: int) -> None:
    """It saw no confirmation of the old active before, so it does not know the age of the newest one."""
    lab = Lab(seed, protocol, standbys=2)
    for name in lab.others:
        lab.faults.crash(name)
    lab.await_heartbeat()
    lab.isolate()
    lab.faults.expire_session(lab.old)
    for name in lab.others:
        lab.faults.restart(name)
    lab.read_while_written(4_500)
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", SOME)
@pytest.mark.parametrize("drift", [(-90_000, 90_000), (90_000, -90_000)])
def test_clocks_may_drift_by_nine_parts_in_a_hundred(protocol: str, drift: tuple[int, int]) -> None:
    lab = Lab(3, protocol)
    lab.faults.drift_clock(lab.old, drift[0])
    for name in lab.others:
        lab.faults.drift_clock(name, drift[1])
    lab.await_heartbeat()
    lab.isolate()
    lab.faults.expire_session(lab.old)
    lab.read_while_written(5_000, 20)
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", SOME)
@pytest.mark.parametrize("seed", range(3))
def test_coordination_is_restarted_while_the_old_active_is_cut_off(protocol: str, seed: int) -> None:
    """Its session timeout starts again; its lease does not."""
    lab = Lab(seed, protocol)
    lab.await_heartbeat()
    lab.isolate()
    lab.run_ms(2_000)
    lab.faults.crash("coordination")
    lab.run_ms(500)
    lab.faults.restart("coordination")
    lab.read_while_written(9_000, 100)
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", SOME)
@pytest.mark.parametrize("seed", range(3))
def test_an_active_beside_the_leader_of_coordination_that_is_cut_off(protocol: str, seed: int) -> None:
    """Its writes are not committed, its pings are answered: it stops, and continues when the ensemble has a new leader, or another server takes
    over."""
    lab = Lab(seed, protocol)
    ensemble = lab.cluster.ensemble
    assert ensemble.leader is not None
    leader = ensemble.leader.name
    ensemble.move(lab.old, leader)
    lab.run_ms(1_000)
    for member in MEMBERS:
        if member != leader:
            lab.faults.cut(leader, member)
    lab.read_while_written(20_000, 200)
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", SOME)
def test_a_record_of_its_stop_that_arrives_late_does_not_speak_of_the_next_tenure(protocol: str) -> None:
    lab = Lab(1, protocol)
    root = f"/cloverlab/groups/g1/confirmations/{lab.old}"

    def stops(changes: list[Any]) -> bool:
        return any(
            getattr(each, "path", "") == root and b"true" in getattr(each, "data", b"") for each in changes
        )

    held = lab.cluster.hold_write(lab.old, stops)
    lab.faults.take_lock("g1")
    lab.run_ms(200)
    assert held.held
    for name in lab.others:
        lab.faults.crash(name)
    lab.faults.cut(lab.old, "coordination")
    lab.run_ms(8_000)
    lab.faults.heal(lab.old, "coordination")
    for name in lab.others:
        lab.faults.restart(name)
    lab.run_ms(12_000)
    held.release()
    lab.finish()
    assert lab.broken() == {}
    assert (
        b"false" in lab.cluster.ensemble.tree.nodes[f"/cloverlab/groups/g1/confirmations/{lab.leader()}"].data
    )


def test_the_holder_writes_once_per_heartbeat_and_the_others_read_as_often() -> None:
    lab = Lab(1, "mams", standbys=3)
    lab.await_heartbeat()
    before, zxid = lab.confirmations(lab.old), lab.cluster.ensemble.tree.zxid
    lab.run_ms(20_000)
    assert lab.confirmations(lab.old) - before == 10
    assert lab.cluster.ensemble.tree.zxid - zxid == 10, "nobody writes anything else"


@pytest.mark.parametrize("protocol", SOME)
def test_a_connection_that_is_there_again_is_confirmed_at_once(protocol: str) -> None:
    """A suspension by the loss of one coordination server ends before the next heartbeat."""
    lab = Lab(1, protocol)
    lab.await_heartbeat()
    lab.faults.crash(lab.cluster.ensemble.member_of(lab.old))
    lab.run_ms(50)
    began_ns = lab.cluster.now_ns
    lab.ada.call(Mkdir("/again"))
    assert lab.cluster.now_ns - began_ns < SECOND


def test_the_wait_is_the_lease_with_its_margin() -> None:
    """A silent active that is cut off: its lease, with margin, counts from the last confirmation."""
    lab = Lab(1, "mams")
    lab.await_heartbeat()
    began_ns = lab.cluster.now_ns
    lab.isolate()
    lab.faults.expire_session(lab.old)
    lab.await_next_active()
    waited_ms = (lab.cluster.now_ns - began_ns) // MILLISECOND
    assert 3_600 <= waited_ms <= 3_800
