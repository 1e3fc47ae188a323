"""Members that reach the primary and cannot follow it: nothing comes from it (a link that is broken one way), or their disk stands still."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir
from tests.simulation.paxos.lab import Lab


def time_of_writes(lab: Lab) -> int:
    """Nanoseconds for twenty writes with a pause after each."""
    began = lab.cluster.now_ns
    for number in range(20):
        lab.ada.call(Mkdir(f"/d{number}"))
        lab.run_ms(97)
    return lab.cluster.now_ns - began


@pytest.mark.parametrize("protocol", ["packed-paxos", "multi-paxos"])
def test_a_member_that_acknowledges_nothing_delays_writes_once(protocol: str) -> None:
    """It offers itself again and again. As long as it was in the view, every write waited for it."""
    lab = Lab(1, protocol=protocol)
    lab.ada.call(Mkdir("/before"))
    lab.run_ms(1_000)
    deaf = lab.secondaries[0]
    lab.faults.do("cut", [lab.primary, deaf], {"direction": "to"})
    lab.run_ms(3_000)
    assert time_of_writes(lab) < 3 * SECOND
    lab.faults.heal_all()
    lab.await_letter(deaf, "S")
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", ["packed-paxos", "multi-paxos"])
def test_a_member_whose_disk_stands_still_delays_writes_once(protocol: str) -> None:
    """It executes what the others decide, and says so. As long as it was in the view, every write waited for its disk."""
    lab = Lab(1, protocol=protocol)
    lab.ada.call(Mkdir("/before"))
    lab.run_ms(1_000)
    slow = lab.secondaries[0]
    lab.faults.slow_disk(slow, ms=20_000)
    lab.run_ms(3_000)
    assert time_of_writes(lab) < 4 * SECOND
    lab.faults.slow_disk(slow, ms=0)
    lab.await_letter(slow, "S")
    lab.finish()
    assert lab.broken() == {}
