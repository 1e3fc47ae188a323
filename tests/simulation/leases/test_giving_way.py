"""A leader that reaches coordination but none of the others lets them try: its own links may be what is broken."""

from __future__ import annotations

import pytest

from nodes.metadata.operations import Mkdir
from nodes.mutations import NO_MUTATIONS, Mutations
from tests.simulation.leases.lab import Lab

COUNTING = ("mams", "packed-paxos", "multi-paxos")
"""Families whose members are the quorum; writers of a shared journal stop when that is out of reach."""
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


@pytest.mark.parametrize("protocol", COUNTING)
def test_the_others_serve(protocol: str) -> None:
    assert written_without_the_leader(protocol, NO_MUTATIONS)


@pytest.mark.parametrize("protocol", COUNTING)
def test_else_nobody_serves(protocol: str) -> None:
    assert not written_without_the_leader(protocol, Mutations(cut_off_leader_stays=True))


@pytest.mark.parametrize("protocol", ["mams", "2pc"])
def test_one_of_two_takes_over_and_renews_who_was_removed(protocol: str) -> None:
    """The configuration has shrunk to the leader and one other when the leader loses that one too; the one that was removed is there again."""
    lab = Lab(1, protocol, NO_MUTATIONS)
    first, second = lab.others
    lab.faults.cut(lab.old, first)
    lab.cluster.run_until(lambda: lab.cluster.configured["g1"] == [lab.old, second])
    lab.faults.cut(lab.old, second)
    task = lab.begin(lab.ada, Mkdir("/b"))
    lab.run_ms(TWO_SESSIONS_MS)
    assert task.done() and lab.active == second
    lab.finish()


def test_who_has_nobody_to_give_way_to_stays() -> None:
    """The others are dead: reads go on."""
    lab = Lab(1, "mams", NO_MUTATIONS)
    for name in lab.cluster.view():
        if name != lab.old:
            lab.faults.crash(name)
    lab.run_ms(2 * TWO_SESSIONS_MS)
    assert lab.active == lab.old
    lab.finish()
