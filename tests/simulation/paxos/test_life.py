"""Start, loss and return of members, restart from disk, power loss, partitions; both packings; and random faults."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.experiments.gaps import gap, session_has_ended
from nodes.config import SECOND
from nodes.metadata.operations import Mkdir, Stat
from nodes.protocols.paxos.messages import Accept
from nodes.trace.events import Called, Committed, Stamped, StepTaken, Warned
from tests.simulation.paxos.lab import Lab


def good(lab: Lab) -> None:
    lab.finish()
    assert {status["state"] for status in lab.invariants.invariants()} == {"green"}, (
        lab.invariants.invariants()
    )
    assert [task.exception() for task in lab.tasks] == [None] * len(lab.tasks)


def known_slot(lab: Lab) -> int:
    return max(s.event.sn for s in lab.reported(Committed))


@pytest.mark.parametrize("protocol", ["packed-paxos", "multi-paxos"])
def test_writes_go_to_the_primary_and_reads_to_every_member(protocol: str) -> None:
    lab = Lab(1, protocol=protocol)
    lab.ada.call(Mkdir("/a"))
    lab.run_ms(500)
    for _ in range(9):
        lab.eve.call(Stat("/a"))
    answered = Counter(s.event.server for s in lab.reported(Called) if type(s.event.operation) is Stat)
    assert answered == dict.fromkeys(["mds1", "mds2", "mds3"], 3)
    assert {s.event.server for s in lab.reported(Called) if type(s.event.operation) is Mkdir} == {lab.primary}
    good(lab)


def test_a_group_of_one_serves() -> None:
    lab = Lab(1, secondaries=0)
    lab.ada.call(Mkdir("/a"))
    lab.faults.power_loss("mds1")
    lab.faults.restart("mds1")
    lab.await_next_primary()
    lab.eve.call(Stat("/a"))
    good(lab)


@pytest.mark.parametrize("secondaries", [2, 0])
@pytest.mark.parametrize("step", ["1", "2"])
def test_an_elected_that_cannot_say_that_it_gives_up_does_not_keep_the_lock(
    secondaries: int, step: str
) -> None:
    """Its connection is suspended while it takes over, and restored before its session ends."""
    lab = Lab(6, secondaries=secondaries)
    lab.ada.call(Mkdir("/a"))
    elected: list[str] = []

    def cut(stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is StepTaken and (event.procedure, event.step) == ("upgrade", step) and not elected:
            elected.append(stamped.server)
            lab.faults.cut(stamped.server, "coordination")

    lab.cluster.on_event(cut)
    lab.faults.crash(lab.primary)
    if not secondaries:
        lab.faults.restart("mds1")
    lab.cluster.run_until(lambda: bool(elected), 30 * SECOND)
    session = lab.cluster.coordination_of(elected[0])
    lab.cluster.run_until(lambda: session.state == "suspended", 10 * SECOND)
    served = len(lab.serving())
    lab.faults.heal_all()
    lab.cluster.run_until(lambda: len(lab.serving()) > served, 60 * SECOND)
    lab.eve.call(Stat("/a"))
    good(lab)


def test_the_primary_dies_and_the_next_one_redoes_what_was_open() -> None:
    lab = Lab(2, secondaries=3)
    lab.ada.call(Mkdir("/a"))
    old = lab.primary
    held = lab.cluster.hold(
        lambda sender, receiver, message: type(message) is Accept and receiver == lab.secondaries[0]
    )
    task = lab.begin(lab.ada, Mkdir("/open"))
    lab.run_ms(50)
    lab.faults.crash(old)
    held.drop()
    lab.await_next_primary()
    redone = [s.event.detail for s in lab.reported(StepTaken) if s.event.step == "2"][-1]
    assert "1 accept, 0 empty" in redone
    lab.cluster.run_until(task.done, 5 * SECOND)
    lab.eve.call(Stat("/open"))
    lab.faults.restart(old)
    lab.await_letter(old, "S")
    good(lab)


def test_an_empty_slot_becomes_a_no_op_and_what_names_it_goes_with_it() -> None:
    """Two writes are open; the survivors have only the second."""
    lab = Lab(3)
    lab.ada.call(Mkdir("/a"))
    old, first_open = lab.primary, known_slot(lab) + 1
    lab.cluster.hold(
        lambda sender, receiver, message: type(message) is Accept and message.first == first_open
    )
    lost = lab.begin(lab.ada, Mkdir("/b"))
    lab.run_ms(20)
    kept = lab.begin(lab.ada, Mkdir("/c"))
    lab.run_ms(20)
    lab.faults.crash(old)
    for each in list(lab.cluster.net.holds):
        each.drop()
    lab.await_next_primary()
    redone = [s.event.detail for s in lab.reported(StepTaken) if s.event.step == "2"][-1]
    assert "0 accept, 2 empty" in redone
    lab.cluster.run_until(lambda: lost.done() and kept.done(), 10 * SECOND)
    good(lab)


def test_a_member_that_was_away_catches_up_and_serves_reads_again() -> None:
    lab = Lab(4)
    away = lab.secondaries[0]
    lab.faults.crash(away)
    for number in range(30):
        lab.ada.call(Mkdir(f"/d{number}"))
    assert lab.letter(away) in "J-"
    lab.faults.restart(away)
    lab.await_letter(away, "S")
    lab.run_ms(500)
    for _ in range(6):
        lab.eve.call(Stat("/d29"))
    assert away in {s.event.server for s in lab.reported(Called) if type(s.event.operation) is Stat}
    good(lab)


def test_all_lose_power_and_all_is_there_afterwards() -> None:
    lab = Lab(5)
    for number in range(10):
        lab.ada.call(Mkdir(f"/d{number}"))
    for name in list(lab.cluster.view()):
        lab.faults.power_loss(name)
    for name in list(lab.cluster.view()):
        lab.faults.restart(name)
    lab.await_next_primary()
    for number in range(10):
        lab.eve.call(Stat(f"/d{number}"))
    good(lab)


def test_the_side_without_a_majority_answers_nothing() -> None:
    lab = Lab(6, secondaries=4)
    lab.ada.call(Mkdir("/a"))
    old = lab.primary
    friend = lab.secondaries[0]
    for name in lab.secondaries[1:]:
        lab.faults.cut(old, name)
        lab.faults.cut(friend, name)
    lab.faults.cut(old, "coordination")
    lab.faults.cut(friend, "coordination")
    task = lab.begin(lab.ada, Mkdir("/b"))
    lab.await_next_primary()
    lab.cluster.run_until(task.done, 10 * SECOND)
    assert task.result().epoch == 2
    good(lab)


def test_a_paused_primary_serves_no_more_when_it_goes_on() -> None:
    lab = Lab(7)
    lab.ada.call(Mkdir("/a"))
    old = lab.primary
    lab.faults.pause(old)
    task = lab.begin(lab.ada, Mkdir("/b"))
    lab.await_next_primary()
    lab.faults.resume(old)
    lab.cluster.run_until(task.done, 10 * SECOND)
    lab.await_letter(old, "S")
    good(lab)


def test_the_lock_is_taken_away() -> None:
    lab = Lab(8)
    lab.ada.call(Mkdir("/a"))
    old = lab.primary
    lab.faults.take_lock("g1")
    lab.await_next_primary()
    lab.ada.call(Mkdir("/b"))
    lab.await_letter(old, "S")
    good(lab)


def test_a_server_added_at_run_time_reads_along() -> None:
    lab = Lab(9)
    lab.ada.call(Mkdir("/a"))
    lab.faults.add_server("g1")
    lab.cluster.run_until(lambda: lab.cluster.view().get("mds4") == "S", 60 * SECOND)
    lab.ada.call(Mkdir("/b"))
    good(lab)


def test_what_makes_no_sense_is_ignored() -> None:
    lab = Lab(10)
    lab.ada.call(Mkdir("/a"))
    (victim, other), send = lab.secondaries, lab.cluster.net.carry
    send(other, victim, [Accept(1 << 40, 0, 3, [])])
    send(lab.primary, victim, [Accept(1, 0, known_slot(lab) + 1, [b"nonsense"])])
    lab.run_ms(100)
    warned = [s.event.what for s in lab.reported(Warned)]
    assert any("ballot" in what for what in warned) and any("no record" in what for what in warned)
    lab.ada.call(Mkdir("/b"))
    good(lab)


def test_every_call_is_answered_within_fifty_milliseconds_of_the_detection() -> None:
    """Reads, too, which wait until there is a lease again; a late refusal sends no client to the dead primary."""
    for seed in (1, 4, 6):
        found = gap("packed-paxos", session_has_ended, "P", seed)
        assert found.beyond_ms <= 50 and not found.failed, found
