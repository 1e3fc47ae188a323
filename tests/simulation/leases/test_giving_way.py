"""A leader that reaches coordination but none of the others lets them take over: its own links may be broken."""

from __future__ import annotations

import pytest

from nodes.config import Timing
from nodes.metadata.operations import Mkdir
from nodes.mutations import NO_MUTATIONS, Mutations
from tests.simulation.leases.lab import Lab

COUNTING = ("mams", "packed-paxos", "multi-paxos")
"""Families whose members form the quorum; writers of a shared journal stop when its quorum is out of reach."""
TWO_SESSIONS_MS = 12_000


def written_without_the_leader(protocol: str, mutations: Mutations) -> bool:
    lab = Lab(1, protocol, mutations)
    lab.isolate(from_coordination=False)
    task = lab.begin(lab.ada, Mkdir("/b"))
    lab.run_ms(TWO_SESSIONS_MS)
    done = task.done()
    lab.finish()
    assert lab.broken() == {}
    return done


def written_by_another(lab: Lab, than: str = "") -> bool:
    """Whether another server writes within the time for which a candidate is waited for, and one round."""
    task = lab.begin(lab.ada, Mkdir("/b"))
    lab.run_ms(3 * TWO_SESSIONS_MS)
    done = task.done() and lab.active != (than or lab.old)
    lab.finish()
    assert lab.broken() == {}
    return done


@pytest.mark.parametrize("protocol", COUNTING)
def test_the_others_serve(protocol: str) -> None:
    assert written_without_the_leader(protocol, NO_MUTATIONS)


@pytest.mark.parametrize("protocol", COUNTING)
def test_else_nobody_serves(protocol: str) -> None:
    assert not written_without_the_leader(protocol, Mutations(cut_off_leader_stays=True))


@pytest.mark.parametrize("protocol", ["mams", "2pc"])
def test_one_of_two_takes_over_and_renews_who_was_removed(protocol: str) -> None:
    """The configuration has shrunk to the leader and one other when the leader loses that one, too; the removed one is there again."""
    lab = Lab(1, protocol, NO_MUTATIONS)
    first, second = lab.others
    lab.faults.cut(lab.old, first)
    lab.cluster.run_until(lambda: lab.cluster.configured["g1"] == [lab.old, second])
    lab.faults.cut(lab.old, second)
    task = lab.begin(lab.ada, Mkdir("/b"))
    lab.run_ms(TWO_SESSIONS_MS)
    assert task.done() and lab.active == second
    lab.finish()


@pytest.mark.parametrize("protocol", ["mams", "2pc"])
def test_a_new_leader_removes_a_member_that_only_coordination_hears(protocol: str) -> None:
    """In 2pc each group needs every member. Acknowledgements are awaited for longer than a session lasts, so that the member is not yet removed
    when too few have answered for a session time-out."""
    timing = Timing(heartbeat_ms=150, session_timeout_ms=600, ack_timeout_ms=1_200)
    lab = Lab(1, protocol, standbys=4, timing=timing)
    mute = lab.others[0]
    for name in lab.cluster.view():
        if name != mute:
            lab.faults.cut(mute, name)
    lab.faults.crash(lab.old)
    assert written_by_another(lab)


def test_who_has_nobody_to_give_way_to_stays() -> None:
    """The others are dead: reads continue."""
    lab = Lab(1, "mams", NO_MUTATIONS)
    for name in lab.cluster.view():
        if name != lab.old:
            lab.faults.crash(name)
    lab.run_ms(2 * TWO_SESSIONS_MS)
    assert lab.active == lab.old
    lab.finish()


@pytest.mark.parametrize("direction", ["to", "from"])
@pytest.mark.parametrize("protocol", [*COUNTING, "2pc"])
def test_links_that_are_broken_one_way(protocol: str, direction: str) -> None:
    """Servers without contact to the leader may continue to ask for the lock."""
    lab = Lab(1, protocol)
    lab.faults.cut(lab.old, direction=direction, others=lab.others)
    assert written_by_another(lab)


@pytest.mark.parametrize("direction", ["both", "to"])
@pytest.mark.parametrize("protocol", [*COUNTING, "2pc"])
def test_the_others_were_started_anew(protocol: str, direction: str) -> None:
    """None of them is a standby any more, and they have every group; over one working direction the leader tries to renew them all the time."""
    lab = Lab(1, protocol)
    lab.faults.cut(lab.old, direction=direction, others=lab.others)
    for name in lab.others:
        lab.faults.stop(name)
        lab.faults.restart(name)
    assert written_by_another(lab)


@pytest.mark.parametrize("protocol", ["mams", "2pc"])
def test_who_took_over_gives_way_to_whom_it_made_a_junior(protocol: str) -> None:
    """The next leader of two members reaches no server either; the previous one reaches the removed member."""
    lab = Lab(1, protocol)
    first, second = lab.others
    lab.faults.cut(lab.old, first)
    lab.cluster.run_until(lambda: lab.cluster.configured["g1"] == [lab.old, second])
    lab.faults.cut(second, others=[lab.old, first])
    lab.cluster.run_until(lambda: lab.elected(2))
    lab.faults.heal(lab.old, first)
    assert written_by_another(lab, than=second)


@pytest.mark.parametrize("protocol", ["packed-paxos", "multi-paxos"])
def test_who_is_slow_after_a_long_silence_comes_to_count(protocol: str) -> None:
    """No message needed an answer for minutes; then disks need longer than a session lasts."""
    lab = Lab(1, protocol)
    lab.run_ms(10 * TWO_SESSIONS_MS)
    for name in lab.others:
        lab.faults.slow_disk(name, ms=7_000)
    task = lab.begin(lab.ada, Mkdir("/b"))
    lab.run_ms(3 * TWO_SESSIONS_MS)
    assert task.done() and lab.active == lab.old
    lab.finish()


@pytest.mark.parametrize("protocol", ["mams", "2pc"])
def test_who_is_the_last_that_has_anything_stays(protocol: str) -> None:
    """The others returned with empty disks: none of them could continue with the lock, and neither could the leader then."""
    lab = Lab(1, protocol)
    for name in lab.others:
        lab.faults.cut(lab.old, name)
        lab.faults.stop(name)
        lab.faults.new_disk(name)
        lab.faults.restart(name)
    lab.run_ms(4 * TWO_SESSIONS_MS)
    assert lab.active == lab.old
    lab.faults.heal_all()
    assert lab.begin_and_wait(lab.ada, Mkdir("/b")).done()
    lab.finish()
    assert lab.broken() == {}
