"""A server that is too slow to join disturbs its view less and less: writes wait while a view changes."""

from __future__ import annotations

import pytest

from nodes.metadata.operations import Mkdir
from nodes.trace.events import Serving
from tests.simulation.symmetric.lab import SymmetricLab


@pytest.mark.parametrize("members", [2, 3])
@pytest.mark.parametrize("ms", [600, 2_000])
def test_a_joiner_that_is_left_out_again_and_again_asks_less_often(members: int, ms: int) -> None:
    lab = SymmetricLab(1, members=members)
    slow = lab.names[-1]
    lab.faults.crash(slow)
    lab.run_ms(3_000)
    lab.faults.restart(slow)
    lab.faults.slow_disk(slow, ms=ms)
    since = len(lab.cluster.events)
    lab.run_ms(15_000)
    views = {each.event.epoch for each in lab.cluster.events[since:] if type(each.event) is Serving}
    assert len(views) <= 8
    lab.ada.call(Mkdir("/meanwhile"))
    lab.faults.slow_disk(slow, ms=0)
    lab.run_ms(6_000)
    assert lab.letters == "M" * members
    lab.finish()
    assert lab.broken() == {}
