"""A member that sends and receives nothing from the primary (a link that is broken one way)."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir
from tests.simulation.paxos.lab import Lab


@pytest.mark.parametrize("protocol", ["packed-paxos", "multi-paxos"])
def test_a_member_that_acknowledges_nothing_delays_writes_once(protocol: str) -> None:
    """It offers itself again and again. As long as it was in the view, every write waited for it."""
    lab = Lab(1, protocol=protocol)
    lab.ada.call(Mkdir("/before"))
    lab.run_ms(1_000)
    deaf = lab.secondaries[0]
    lab.faults.do("cut", [lab.primary, deaf], {"direction": "to"})
    lab.run_ms(3_000)
    began = lab.cluster.now_ns
    for number in range(20):
        lab.ada.call(Mkdir(f"/d{number}"))
        lab.run_ms(97)
    assert lab.cluster.now_ns - began < 3 * SECOND
    lab.faults.heal_all()
    lab.await_letter(deaf, "S")
    lab.finish()
    assert lab.broken() == {}
