"""A former primary that comes back knows more decided slots than the elected server, which cannot decide them again without it."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir
from nodes.protocols.paxos import acceptor
from nodes.protocols.paxos.messages import Accept, PaxosPrepare, Success
from nodes.trace.events import StepTaken
from tests.simulation.paxos.lab import Lab
from tests.simulation.paxos.test_members_that_come import await_step


@pytest.mark.parametrize("protocol", ["packed-paxos", "multi-paxos"])
def test_a_former_primary_with_more_decided_slots_makes_the_majority(protocol: str) -> None:
    """It is frozen after it has decided a write, before any other knows. The member that promised is gone before it accepts anything."""
    lab = Lab(1, protocol=protocol)
    lab.ada.call(Mkdir("/before"))
    lab.run_ms(1_000)
    first, secondaries = lab.primary, lab.secondaries
    decisions = lab.cluster.hold(lambda sender, receiver, message: type(message) is Success)
    lab.begin(lab.ada, Mkdir("/decided"))
    lab.run_ms(50)
    since = len(lab.cluster.events)
    lab.faults.pause(first)
    decisions.drop()
    redone = lab.cluster.hold(lambda sender, receiver, message: type(message) is Accept and sender != first)
    elected = await_step(lab, "2", since)
    (promised,) = [name for name in secondaries if name != elected]
    lab.faults.crash(promised)
    redone.drop()
    lab.faults.resume(first)
    lab.serves_again(lab.eve, 60 * SECOND)


@pytest.mark.parametrize("protocol", ["packed-paxos", "multi-paxos"])
@pytest.mark.parametrize("lost", [False, True])
def test_a_secondary_that_promises_late_or_never_makes_the_majority(protocol: str, lost: bool) -> None:
    """The elected server of five goes on without it. One of the two that promised is gone before it accepts anything."""
    lab = Lab(1, secondaries=4, protocol=protocol)
    lab.ada.call(Mkdir("/before"))
    lab.run_ms(1_000)
    first, late = lab.primary, lab.secondaries[0]
    questions = lab.cluster.hold(
        lambda sender, receiver, message: type(message) is PaxosPrepare and receiver == late
    )
    redone = lab.cluster.hold(lambda sender, receiver, message: type(message) is Accept)
    since = len(lab.cluster.events)
    lab.faults.crash(first)
    elected = await_step(lab, "2", since)
    one, _ = [name for name in lab.cluster.view() if name not in (first, late, elected)]
    lab.faults.crash(one)
    redone.drop()
    questions.drop() if lost else questions.release()
    lab.serves_again(lab.eve, 60 * SECOND)


@pytest.mark.parametrize("protocol", ["packed-paxos", "multi-paxos"])
def test_a_member_that_has_missed_very_many_ballots_counts_again(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that is elected again and again without a majority begins a ballot each time."""
    monkeypatch.setattr(acceptor, "AHEAD_MAX", 4)
    lab = Lab(1, protocol=protocol)
    lab.ada.call(Mkdir("/before"))
    lab.run_ms(1_000)
    alone, away, other = lab.primary, *lab.secondaries
    for name in (away, other):
        lab.faults.crash(name)
    lab.faults.respawn(alone)
    lab.cluster.run_for(120 * SECOND)
    assert lab.reported(StepTaken)[-1].event.epoch > 6
    for name in (away, other):
        lab.faults.restart(name)
    lab.cluster.run_until(lab.cluster.settled, 60 * SECOND)
    lab.faults.crash(alone)
    lab.serves_again(lab.eve, 60 * SECOND)


@pytest.mark.parametrize("protocol", ["packed-paxos", "multi-paxos"])
def test_a_member_that_was_cut_off_for_very_many_ballots_comes_back(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An added server is never elected, and keeps its session all the time."""
    monkeypatch.setattr(acceptor, "AHEAD_MAX", 4)
    lab = Lab(1, protocol=protocol)
    lab.ada.call(Mkdir("/before"))
    lab.faults.add_server("g1")
    added = lab.faults.added
    lab.await_letter(added, "S")
    alone, *away = [lab.primary, *(name for name in lab.secondaries if name != added)]
    for name in (alone, *away):
        lab.faults.cut(added, name)
    for name in away:
        lab.faults.crash(name)
    lab.faults.respawn(alone)
    lab.cluster.run_for(120 * SECOND)
    assert lab.reported(StepTaken)[-1].event.epoch > 6
    for name in away:
        lab.faults.restart(name)
    lab.faults.heal_all()
    lab.await_letter(added, "S")
    lab.finish()
    assert lab.broken() == {}
