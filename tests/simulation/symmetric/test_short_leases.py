"""A view change takes as long as a server that does not answer costs, however short the leases are."""

from __future__ import annotations

import pytest

from nodes.config import Timing
from nodes.metadata.operations import Mkdir
from nodes.trace.events import Serving
from tests.simulation.striking import Blow, goes_on, works
from tests.simulation.symmetric.lab import SymmetricLab


@pytest.mark.parametrize("ack_ms", [60, 120])
@pytest.mark.parametrize("members", [4, 5, 7])
def test_attempts_do_not_overtake_each_other(members: int, ack_ms: int) -> None:
    """The changer dies, and a stalled disk, which answers all but Settle, delays each later attempt by more than two leases. Nor does it disturb the
    view again and again as a joiner."""
    lab = SymmetricLab(1, members=members, timing=Timing(ack_timeout_ms=ack_ms))
    lab.ada.call(Mkdir("/before"))
    works(lab)
    blow = Blow(lab).at_step("view change", "flush", lambda name: [name])
    lab.faults.slow_disk("mds3", ms=40_000)
    blow.await_it()
    since = len(lab.cluster.events)
    lab.run_ms(20_000)
    views = {each.event.epoch for each in lab.cluster.events[since:] if type(each.event) is Serving}
    assert 1 <= len(views) <= 12, views
    lab.asks(lab.ada, "mds2")
    lab.begin_and_wait(lab.ada, Mkdir("/meanwhile")).result()
    goes_on(lab)
