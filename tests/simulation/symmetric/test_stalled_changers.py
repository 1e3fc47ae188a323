"""A living member that cannot finish its attempt, because its disk is stalled."""

from __future__ import annotations

import pytest

from nodes.metadata.operations import Mkdir
from tests.simulation.striking import Blow
from tests.simulation.symmetric.lab import SymmetricLab


@pytest.mark.parametrize("verb", ["crash", "power_loss"])
@pytest.mark.parametrize(("members", "place"), [(3, 0), (3, 2), (5, 4)])
def test_servers_that_restart_go_on_without_it(members: int, place: int, verb: str) -> None:
    lab = SymmetricLab(1, members=members)
    lab.ada.call(Mkdir("/before"))
    others = list(lab.names)
    stalled = others.pop(place)
    lab.faults.slow_disk(stalled, ms=40_000)
    lab.asks(lab.ada, stalled)
    lab.begin(lab.ada, Mkdir("/under-way"))
    lab.run_ms(20)
    for name in others:
        lab.faults.do(verb, [name])
    lab.run_ms(100)
    for name in others:
        lab.faults.restart(name)
    lab.run_ms(15_000)
    assert {lab.cluster.view()[name] for name in others} == {"M"}
    lab.asks(lab.eve, others[0])
    lab.begin_and_wait(lab.eve, Mkdir("/without-it")).result()
    lab.finish()
    assert lab.broken() == {}
    assert lab.letters == "M" * members


@pytest.mark.parametrize("members", [2, 3])
def test_a_server_that_died_in_an_attempt_of_its_own_goes_on_too(members: int) -> None:
    """The attempt of its earlier life is the newest one, and the stalled member makes no other."""
    lab = SymmetricLab(1, members=members)
    lab.ada.call(Mkdir("/before"))
    stalled, back, *others = lab.names
    lab.faults.slow_disk(stalled, ms=40_000)
    lab.begin(lab.ada, Mkdir("/under-way"))
    lab.run_ms(20)
    for name in (back, *others):
        lab.faults.crash(name)
    blow = Blow(lab).at_step("view change", "flush", lambda name: [name] if name == back else [])
    lab.run_ms(100)
    lab.faults.restart(back)
    blow.await_it()
    lab.run_ms(100)
    lab.faults.restart(back)
    lab.run_ms(10_000)
    assert lab.cluster.view()[back] == "M"
    lab.asks(lab.eve, back)
    lab.begin_and_wait(lab.eve, Mkdir("/without-it")).result()
    lab.finish()
    assert lab.broken() == {}
