"""A server leaves its group in good order: it stops counting before it stops, and no answered write depends on it."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.faults.check import FaultUnsupported
from nodes.metadata.operations import Mkdir, Stat
from nodes.trace.events import Configured, ServerRemoved
from tests.simulation.mams.lab import Lab
from tests.simulation.mams.test_forcing import members


@pytest.mark.parametrize("seed", range(5))
def test_a_standby_leaves_under_load(seed: int) -> None:
    lab = Lab(seed, standbys=3)
    lab.faults.delay(lab.active, "coordination", ms=20)
    leaver = lab.standbys[0]
    for number in range(150):
        lab.begin(lab.ada, Mkdir(f"/{number}"))
        if number == 20:
            lab.faults.remove_server(leaver)
        lab.run_ms(20)
    assert leaver not in members(lab) and len(members(lab)) == 3
    assert lab.cluster.servers[leaver].process == "stopped"
    lab.faults.crash(lab.active)
    lab.await_next_active()
    lab.begin(lab.eve, Stat("/149"))
    lab.finish()
    assert lab.broken() == {}
    assert leaver not in members(lab)
    assert all(task.exception() is None for task in lab.tasks)


@pytest.mark.parametrize("seed", range(12))
def test_the_active_fails_while_a_standby_leaves_under_load(seed: int) -> None:
    """The order ends with the tenure. The leaver is out, or it counts as before and can be removed again."""
    lab = Lab(seed, standbys=3)
    lab.faults.delay(lab.active, "coordination", ms=5)
    leaver = lab.standbys[0]
    for number in range(60):
        lab.begin(lab.ada, Mkdir(f"/{number}"))
        if number == 20:
            lab.faults.remove_server(leaver)
            lab.run_ms(3 * seed)
            crashed = lab.active
            lab.faults.crash(crashed)
        lab.run_ms(20)
    lab.await_next_active()
    if lab.active == leaver:
        lab.faults.restart(crashed)
        lab.run_ms(3_000)
        lab.faults.take_lock("g1")
        lab.await_next_active()
    if leaver in members(lab):
        lab.faults.remove_server(leaver)
    lab.run_ms(5_000)
    assert leaver not in members(lab)
    lab.begin(lab.eve, Stat("/59"))
    lab.finish()
    assert lab.broken() == {}
    assert all(task.exception() is None for task in lab.tasks)
    removed = [each.event.server for each in lab.cluster.events if type(each.event) is ServerRemoved]
    assert removed == [leaver]


def test_a_server_that_is_down_leaves_too() -> None:
    lab = Lab(1, standbys=3)
    lab.run_ms(1_000)
    leaver = lab.standbys[0]
    lab.faults.crash(leaver)
    lab.faults.remove_server(leaver)
    lab.run_ms(3_000)
    assert leaver not in members(lab)
    with pytest.raises(FaultUnsupported, match="gone for ever"):
        lab.faults.restart(leaver)
    lab.finish()
    assert lab.broken() == {}


def test_one_that_is_counted_no_more_leaves_at_once() -> None:
    lab = Lab(1, standbys=3)
    leaver = lab.standbys[0]
    lab.faults.crash(leaver)
    lab.ada.call(Mkdir("/a"))
    lab.run_ms(10_000)
    assert leaver not in members(lab)
    lab.faults.remove_server(leaver)
    lab.finish()
    assert lab.broken() == {}
    assert lab.cluster.servers[leaver].gone


def test_who_cannot_leave_is_reported_why() -> None:
    lab = Lab(1, standbys=1)
    lab.run_ms(1_000)
    before = [each for each in lab.cluster.events if type(each.event) is Configured]
    with pytest.raises(FaultUnsupported, match="is the active"):
        lab.faults.remove_server(lab.active)
    with pytest.raises(FaultUnsupported, match="no server"):
        lab.faults.remove_server("mds9")
    three = Lab(1, standbys=2)
    three.run_ms(1_000)
    first, second = three.standbys
    three.faults.remove_server(first)
    three.run_ms(3_000)
    with pytest.raises(FaultUnsupported, match="never counts fewer than 2"):
        three.faults.remove_server(second)
    assert before == [each for each in lab.cluster.events if type(each.event) is Configured]


@pytest.mark.parametrize("protocol", ["mams", "2pc"])
def test_a_removal_is_not_decided_on_old_acknowledgements(protocol: str) -> None:
    """The active could have asked: the other one had been down for three seconds, six times the time-out of an acknowledgement."""
    lab = Lab(1, standbys=2, protocol=protocol)
    lab.ada.call(Mkdir("/a"))
    lab.run_ms(6_000)
    leaver, lost = lab.standbys
    lab.faults.crash(lost)
    lab.run_ms(3_000)
    lab.faults.remove_server(leaver)
    lab.run_ms(2_000)
    written = lab.begin(lab.ada, Mkdir("/b"))
    lab.cluster.run_until(written.done, 120 * SECOND)
    assert written.exception() is None
