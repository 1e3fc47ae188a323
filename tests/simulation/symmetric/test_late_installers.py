"""A member of a view that has not begun it yet knows nothing of the leases that others granted in the view before (safety rule 9)."""

from __future__ import annotations

import pytest

from nodes.config import SECOND, Timing
from nodes.metadata.operations import Mkdir, Stat
from nodes.sim.ensemble import COORDINATION
from nodes.trace.events import StepTaken
from tests.simulation.symmetric.lab import SymmetricLab


@pytest.mark.parametrize("ack_ms", [500, 1_000, 2_000])
def test_the_lease_of_the_view_before_is_waited_for(ack_ms: int) -> None:
    """mds4 comes back, and mds3 is cut off as soon as it has settled that view: it still reads under its lease of the view before. mds4 learns late
    of the view that has it, and has granted mds3 nothing; the next view begins without mds3."""
    lab = SymmetricLab(1, members=4, timing=Timing(ack_timeout_ms=ack_ms))
    first, second, cut, late = lab.names
    for other in (first, second, cut):
        lab.faults.cut(late, other)
    lab.await_view_of(first, second, cut)
    lab.ada.call(Mkdir("/before"))
    lab.asks(lab.eve, cut)
    for other in (first, second, late):
        lab.faults.cut("eve", other)
    lab.run_ms(5 * ack_ms)
    lab.faults.cut(cut, COORDINATION)
    for other in (first, second, cut):
        lab.faults.heal(late, other)
    await_step(lab, "settle")
    lab.faults.cut(late, COORDINATION)
    await_step(lab, "install")
    for other in (first, second, late, "ada"):
        lab.faults.cut(cut, other)
    lab.faults.force_view("g1")
    await_step(lab, "install")
    lab.faults.heal(late, COORDINATION)
    lab.begin(lab.ada, Mkdir("/new"))
    for _ in range(2 * ack_ms // 10):
        lab.begin(lab.eve, Stat("/new"))
        lab.run_ms(10)
    lab.finish()
    assert lab.broken() == {}


def await_step(lab: SymmetricLab, step: str) -> None:
    since = len(lab.cluster.events)

    def taken() -> bool:
        events = (each.event for each in lab.cluster.events[since:])
        return any(type(event) is StepTaken and event.step == step for event in events)

    lab.cluster.run_until(taken, 30 * SECOND)
