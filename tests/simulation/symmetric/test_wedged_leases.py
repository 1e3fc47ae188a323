"""A member that has settled the next view prolongs no lease of the present one (safety rule 9)."""

from __future__ import annotations

import pytest

from nodes.config import SECOND, Timing
from nodes.metadata.operations import Mkdir, Stat
from nodes.sim.ensemble import COORDINATION
from tests.simulation.symmetric.lab import SymmetricLab


@pytest.mark.parametrize("ack_ms", [500, 2_000])
def test_a_wedged_member_reads_on_by_the_grants_of_who_was_left_out(ack_ms: int) -> None:
    """mds1 alone of the view makes the next one, with mds3, and does not learn that it exists. mds2 was left out, does not know it, and goes on
    granting: mds1 reads on under that lease, which nobody in the new view knows."""
    lab = SymmetricLab(1, members=3, timing=Timing(ack_timeout_ms=ack_ms))
    stays, left, comes = lab.names
    for other in (stays, left):
        lab.faults.cut(comes, other)
    lab.await_view_of(stays, left)
    lab.ada.call(Mkdir("/before"))
    lab.asks(lab.eve, stays)
    lab.faults.cut("eve", comes)
    lab.faults.cut("eve", left)
    lab.run_ms(5 * ack_ms)
    for other in (stays, left):
        lab.faults.heal(comes, other)
    for other in (stays, comes, COORDINATION, "ada"):
        lab.faults.cut(left, other)
    held = lab.cluster.hold_write(
        stays, lambda changes: any(each.path.endswith("/epoch") for each in changes)
    )
    lab.cluster.run_until(lambda: bool(held.held), 30 * SECOND)
    lab.faults.heal(left, stays)
    lab.run_ms(ack_ms // 2)
    lab.faults.cut(stays, COORDINATION)
    lab.faults.cut(stays, comes)
    lab.faults.cut(stays, "ada")
    held.release()
    lab.asks(lab.ada, comes)
    written = lab.begin(lab.ada, Mkdir("/new"))
    for _ in range(10 * ack_ms // 10):
        lab.begin(lab.eve, Stat("/new"))
        lab.run_ms(10)
    assert written.done()
    lab.finish()
    assert lab.broken() == {}
