"""Members die at each step of a view change, joiners during state transfer, two of five at once (SAA §5.3, §7.3; safety rule 7)."""

from __future__ import annotations

import pytest

from nodes.metadata.operations import Mkdir
from nodes.protocols.symmetric.messages import (
    Broadcast,
    Flush,
    Flushed,
    Held,
    Installed,
    JoinView,
    Settle,
    Settled,
    Welcome,
)  # fmt: skip
from nodes.wire.messages import Message
from tests.simulation.striking import Blow, goes_on, others_of, works
from tests.simulation.symmetric.lab import SymmetricLab

CHANGE = "view change"
STEPS = ("propose", "flush", "settle", "leases", "install")
WORDS = (Flush, Flushed, Settle, Settled, Installed)
JOINING = (JoinView, Welcome, Flush, Flushed, Settle, Settled, Installed)


def changing(members: int, seed: int = 1) -> SymmetricLab:
    """A group under load whose last member but one is about to die."""
    lab = SymmetricLab(seed, members=members)
    lab.ada.call(Mkdir("/before"))
    works(lab)
    return lab


def leave_out(lab: SymmetricLab, step: str) -> None:
    """Crashes mds3, so that its lease runs out. For the step `leases` its disk is stalled instead, and the lease stays valid."""
    if step == "leases":
        lab.faults.slow_disk("mds3", ms=20_000)
    else:
        lab.faults.crash("mds3")


@pytest.mark.parametrize(
    ("who", "verb"),
    [("who changes it", "crash"), ("who changes it", "power_loss"), ("who does not", "crash")],
)
@pytest.mark.parametrize("step", STEPS)
def test_at_a_step_of_the_view_change(step: str, who: str, verb: str) -> None:
    lab = changing(4)
    changes = who == "who changes it"
    blow = Blow(lab, verb).at_step(CHANGE, step, lambda name: [name if changes else others_of(lab, name)[-1]])
    leave_out(lab, step)
    blow.await_it()
    goes_on(lab)


@pytest.mark.parametrize("step", STEPS)
def test_two_of_five_at_once_at_a_step(step: str) -> None:
    """One of five is left out, and then two more die: the two that remain are no majority of the last view, until one returns."""
    lab = changing(5)
    blow = Blow(lab).at_step(CHANGE, step, lambda name: [name, others_of(lab, name)[-1]])
    leave_out(lab, step)
    blow.await_it()
    lab.run_ms(2_000)
    lab.faults.do(*{"leases": ("slow_disk", ["mds3"], {"ms": 0})}.get(step, ("restart", ["mds3"])))
    goes_on(lab)


def test_a_member_too_slow_for_every_attempt_keeps_no_joiner_out() -> None:
    """Two of five die beside a stalled disk, and the attempt without them fails. One returns without a link to the slow member, which answers
    all but Settle: three can go on."""
    lab = changing(5)
    *_, dies, returns, slow = lab.names
    lab.faults.slow_disk(slow, ms=30_000)
    lab.begin(lab.ada, Mkdir("/under-way"))
    lab.run_ms(20)
    for name in (dies, returns):
        lab.faults.crash(name)
    lab.run_ms(1_000)
    lab.faults.cut(returns, slow)
    lab.faults.restart(returns)
    lab.run_ms(6_000)
    lab.begin_and_wait(lab.ada, Mkdir("/of-three")).result()
    lab.faults.slow_disk(slow, ms=0)
    views = len(lab.serving())
    lab.run_ms(30_000)
    assert len(lab.serving()) == views, "who is cut off from a member stays out"
    goes_on(lab)


@pytest.mark.parametrize("end", ["sender", "receiver"])
@pytest.mark.parametrize("kind", WORDS)
def test_at_a_message_of_the_view_change(kind: type[Message], end: str) -> None:
    lab = changing(4)

    def victim(sender: str, receiver: str, message: Message) -> str:
        faulted = {"sender": sender, "receiver": receiver}[end]
        return faulted if type(message) is kind and faulted != "mds3" else ""

    blow = Blow(lab).at_message(victim)
    lab.faults.crash("mds3")
    blow.await_it()
    goes_on(lab)


@pytest.mark.parametrize("victims", [1, 2])
@pytest.mark.parametrize("kind", [Broadcast, Held])
def test_while_they_order_and_acknowledge(kind: type[Message], victims: int) -> None:
    """No view change is under way: the sender dies with a message that reached some member, and perhaps a second one dies with it."""
    lab = SymmetricLab(2, members=5)
    lab.ada.call(Mkdir("/before"))
    blow = Blow(lab).at_message(lambda sender, receiver, message: sender if type(message) is kind else "")
    works(lab)
    blow.await_it()
    if victims == 2:
        lab.faults.crash(others_of(lab)[0])
    goes_on(lab)


@pytest.mark.parametrize("end", ["joiner", "member"])
@pytest.mark.parametrize("kind", JOINING)
@pytest.mark.parametrize("missed", [5, 200], ids=["near", "far"])
def test_at_a_message_of_a_join(missed: int, kind: type[Message], end: str) -> None:
    """A returning member lacks some groups, or so many that it receives them before the view changes."""
    lab = SymmetricLab(3)
    lab.faults.crash("mds2")
    lab.await_view_of("mds1", "mds3")
    for number in range(missed):
        lab.ada.call(Mkdir(f"/d{number}"))

    def victim(sender: str, receiver: str, message: Message) -> str:
        if type(message) is not kind or "mds2" not in (sender, receiver):
            return ""
        other = receiver if sender == "mds2" else sender
        return "mds2" if end == "joiner" else other

    blow = Blow(lab).at_message(victim)
    lab.faults.restart("mds2")
    works(lab)
    blow.await_it()
    goes_on(lab)
    assert lab.letters == "MMM"


@pytest.mark.parametrize("step", ["propose", "flush", "settle", "install"])
def test_a_new_server_dies_at_a_step_of_the_view_that_takes_it_in(step: str) -> None:
    lab = SymmetricLab(4)
    lab.ada.call(Mkdir("/before"))
    blow = Blow(lab).at_step(CHANGE, step, lambda name: ["mds4"])
    lab.faults.add_server("g1")
    works(lab)
    blow.await_it()
    goes_on(lab)
    assert lab.letters == "MMMM"
