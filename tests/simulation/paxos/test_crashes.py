"""The new primary dies at each step of its takeover, secondaries while they promise, accept and return (DCFS3, Recovery; safety rule 8).

A dead server stays down until clients have been served without it.
"""

from __future__ import annotations

import pytest

from nodes.metadata.operations import Mkdir
from nodes.protocols.paxos.messages import (
    Accept,
    Accepted,
    AskLease,
    LeaseGranted,
    PaxosJoin,
    PaxosPrepare,
    PaxosPromise,
    Success,
)  # fmt: skip
from nodes.wire.messages import Message
from tests.simulation.paxos.lab import Lab
from tests.simulation.striking import Blow, goes_on, others_of, works

FAMILIES = ("packed-paxos", "multi-paxos")
STEPS = (("election", "draw"), ("election", "lock"), *(("upgrade", step) for step in "1234"))
WORDS = (PaxosPrepare, PaxosPromise, Accept, Accepted, Success)
JOINING = (PaxosJoin, Accept, Accepted, AskLease, LeaseGranted)


def at_work(protocol: str, secondaries: int, seed: int = 1) -> Lab:
    lab = Lab(seed, secondaries=secondaries, protocol=protocol)
    works(lab)
    return lab


@pytest.mark.parametrize(("procedure", "step"), STEPS)
@pytest.mark.parametrize(
    ("protocol", "verb"),
    [("packed-paxos", "crash"), ("packed-paxos", "power_loss"), ("multi-paxos", "crash")],
)
def test_the_next_primary_at_a_step_of_its_takeover(
    protocol: str, procedure: str, step: str, verb: str
) -> None:
    """It dies right after its predecessor; three of five are left."""
    lab = at_work(protocol, 4)
    blow = Blow(lab, verb).at_step(procedure, step, lambda name: [name])
    lab.faults.crash(lab.primary)
    blow.await_it()
    goes_on(lab)


@pytest.mark.parametrize(("procedure", "step"), STEPS)
def test_two_at_once_at_a_step(procedure: str, step: str) -> None:
    """The next primary and a secondary die: two of five are left, and continue as soon as a third returns."""
    lab = at_work("packed-paxos", 4)
    old = lab.primary
    blow = Blow(lab).at_step(procedure, step, lambda name: [name, others_of(lab, name, old)[-1]])
    lab.faults.crash(old)
    blow.await_it()
    lab.run_ms(3_000)
    lab.faults.restart(old)
    goes_on(lab)


@pytest.mark.parametrize("end", ["sender", "receiver"])
@pytest.mark.parametrize("kind", WORDS)
@pytest.mark.parametrize("protocol", FAMILIES)
def test_at_a_message_of_a_takeover(protocol: str, kind: type[Message], end: str) -> None:
    lab = at_work(protocol, 4)
    old = lab.primary

    def victim(sender: str, receiver: str, message: Message) -> str:
        return (
            {"sender": sender, "receiver": receiver}[end]
            if type(message) is kind and old not in (sender, receiver)
            else ""
        )

    lab.faults.crash(old)
    blow = Blow(lab).at_message(victim)
    blow.await_it()
    goes_on(lab)


@pytest.mark.parametrize("end", ["sender", "receiver"])
@pytest.mark.parametrize("kind", [Accept, Accepted, Success])
@pytest.mark.parametrize("protocol", FAMILIES)
def test_while_they_replicate(protocol: str, kind: type[Message], end: str) -> None:
    lab = at_work(protocol, 2)

    def victim(sender: str, receiver: str, message: Message) -> str:
        return {"sender": sender, "receiver": receiver}[end] if type(message) is kind else ""

    blow = Blow(lab).at_message(victim)
    blow.await_it()
    goes_on(lab)


@pytest.mark.parametrize("end", ["who comes back", "the primary"])
@pytest.mark.parametrize("kind", JOINING)
def test_at_a_message_of_a_secondary_that_comes_back(kind: type[Message], end: str) -> None:
    lab = Lab(3)
    away = lab.secondaries[0]
    lab.faults.crash(away)
    for number in range(20):
        lab.ada.call(Mkdir(f"/d{number}"))
    works(lab)

    def victim(sender: str, receiver: str, message: Message) -> str:
        if type(message) is not kind or away not in (sender, receiver):
            return ""
        return away if end == "who comes back" else receiver if sender == away else sender

    blow = Blow(lab).at_message(victim)
    lab.faults.restart(away)
    blow.await_it()
    goes_on(lab)
    assert sorted(lab.cluster.view().values()) == ["P", "S", "S"]


@pytest.mark.parametrize("who", ["who comes back", "the primary"])
def test_at_the_slot_that_takes_a_secondary_in(who: str) -> None:
    lab = Lab(4)
    away = lab.secondaries[0]
    lab.faults.crash(away)
    lab.ada.call(Mkdir("/a"))
    works(lab)
    blow = Blow(lab).at_step("view", "", lambda name: [away if who == "who comes back" else name])
    lab.faults.restart(away)
    blow.await_it()
    goes_on(lab)
