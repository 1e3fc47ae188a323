"""Members that live, but do not reach the coordination service, can change no view."""

from __future__ import annotations

import pytest

from nodes.metadata.operations import Mkdir
from nodes.sim.ensemble import COORDINATION
from nodes.trace.events import StoppedServing
from tests.simulation.symmetric.lab import SymmetricLab


def all_go_on(lab: SymmetricLab, back: str, others: list[str], parted_ms: int, late_ms: int) -> None:
    """The restarted member reaches the service after `parted_ms`, the others `late_ms` later; none stops serving."""
    lab.run_ms(parted_ms)
    lab.faults.heal(back, COORDINATION)
    lab.run_ms(late_ms)
    for name in others:
        lab.faults.heal(name, COORDINATION)
    lab.cluster.run_until(lambda: lab.letters == "MMM")
    assert not [each for each in lab.cluster.events if type(each.event) is StoppedServing]
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("verb", ["crash", "power_loss"])
@pytest.mark.parametrize("members", [3, 5])
def test_the_others_do_not_wait_for_one_after_a_restart(members: int, verb: str) -> None:
    lab = SymmetricLab(1, members=members)
    lab.ada.call(Mkdir("/before"))
    first, *others = lab.names
    lab.faults.cut(first, COORDINATION)
    for name in others:
        lab.faults.do(verb, [name])
    lab.run_ms(100)
    for name in others:
        lab.faults.restart(name)
    lab.await_view_of(*others)
    lab.asks(lab.ada, others[0])
    lab.begin_and_wait(lab.ada, Mkdir("/without-it")).result()
    lab.faults.heal(first, COORDINATION)
    lab.cluster.run_until(lambda: lab.letters == "M" * members)
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("parted_ms", [1_000, 20_000])
@pytest.mark.parametrize("late_ms", [0, 1_000])
def test_a_restarted_server_takes_no_view_from_living_members(late_ms: int, parted_ms: int) -> None:
    """All lose the coordination service, and it may be the restarted server that reaches it first."""
    lab = SymmetricLab(1)
    lab.ada.call(Mkdir("/before"))
    back, *others = lab.names
    lab.faults.crash(back)
    lab.await_view_of(*others)
    for name in others:
        lab.faults.cut(name, COORDINATION)
    lab.faults.restart(back)
    lab.faults.cut(back, COORDINATION)
    all_go_on(lab, back, others, parted_ms, late_ms)


@pytest.mark.parametrize("parted_ms", [1_000, 20_000])
@pytest.mark.parametrize("late_ms", [0, 1_000])
def test_a_restarted_member_waits_for_those_that_reach_the_service_later(
    late_ms: int, parted_ms: int
) -> None:
    """It is in the present view, and may begin the next one with its disk alone."""
    lab = SymmetricLab(1)
    lab.ada.call(Mkdir("/before"))
    back, *others = lab.names
    for name in others:
        lab.faults.cut(name, COORDINATION)
    lab.run_ms(100)
    lab.faults.crash(back)
    lab.run_ms(100)
    lab.faults.restart(back)
    lab.run_ms(200)
    lab.faults.cut(back, COORDINATION)
    all_go_on(lab, back, others, parted_ms, late_ms)


@pytest.mark.parametrize("missed", [10, 200], ids=["near", "far"])
def test_the_next_member_sends_a_joiner_what_it_lacks(missed: int) -> None:
    """The first member cannot take it in, and does not even look for joiners."""
    lab = SymmetricLab(1)
    first, second, back = lab.names
    lab.faults.crash(back)
    lab.await_view_of(first, second)
    for number in range(missed):
        lab.ada.call(Mkdir(f"/{number}"))
    lab.faults.cut(first, COORDINATION)
    lab.run_ms(6_000)
    lab.faults.restart(back)
    lab.await_view_of(second, back)
    lab.finish()
    assert lab.broken() == {}


def test_the_next_member_takes_a_joiner_in_while_writes_go_on() -> None:
    """A thousand groups per second: the joiner is near for moments only."""
    lab = SymmetricLab(1)
    first, second, back = lab.names
    lab.faults.crash(back)
    lab.await_view_of(first, second)
    for number in range(200):
        lab.ada.call(Mkdir(f"/{number}"))
    lab.faults.cut(first, COORDINATION)
    lab.run_ms(6_000)
    lab.faults.restart(back)
    lab.asks(lab.ada, second)
    lab.asks(lab.eve, first)
    for number in range(1_500):
        lab.begin(lab.ada, Mkdir(f"/a{number}"))
        lab.begin(lab.eve, Mkdir(f"/e{number}"))
        lab.run_ms(2)
    assert lab.cluster.view()[back] == "M"
    lab.finish()
    assert lab.broken() == {}
