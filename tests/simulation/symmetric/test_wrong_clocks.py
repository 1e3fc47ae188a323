"""The clock of the member that looks for dead clients is wrong from its start."""

from __future__ import annotations

import pytest

from nodes.metadata.operations import AddBlock, Append, Create, Mkdir, Opened
from tests.simulation.symmetric.lab import SymmetricLab

TTL_MS = 4_000


@pytest.mark.parametrize("ms", [-60_000, 5_000, 60_000])
def test_the_sessions_of_living_clients_stay(ms: int) -> None:
    """Other members stamp their renewals: one client is idle with a file open, and one writes all the time."""
    lab = SymmetricLab(1, session_ttl_ms=TTL_MS)
    first = lab.names[0]
    lab.asks(lab.ada, "mds2")
    lab.ada.call(Create("/f"))
    opened = lab.ada.call(Append("/f"))
    assert isinstance(opened.result, Opened)
    lab.faults.crash(first)
    lab.run_ms(1_500)
    lab.faults.skew_clock(first, ms=ms)
    lab.faults.restart(first)
    lab.cluster.run_until(lambda: lab.letters == "MMM")
    for number in range(40):
        lab.run_ms(500)
        lab.begin_and_wait(lab.eve, Mkdir(f"/{number}")).result()
    lab.ada.call(AddBlock(opened.result.inode, opened.number))
    lab.finish()
    assert lab.broken() == {}
